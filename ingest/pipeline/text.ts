/** PostgreSQL stores neither NUL nor half of a surrogate pair. What is empty after that is absent. */
export function cleanText(text: string | null | undefined): string | null {
  if (text == null) return null;
  const cleaned = text.replaceAll('\0', '').toWellFormed();
  return cleaned === '' ? null : cleaned;
}
