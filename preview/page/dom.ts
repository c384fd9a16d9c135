type Child = Node | string | null;

/** An element with properties, `aria-…` and `data-…` attributes, and children. Text is always text. */
export function el<K extends keyof HTMLElementTagNameMap>(
  tag: K,
  properties: Readonly<Record<string, unknown>> = {},
  ...children: readonly Child[]
): HTMLElementTagNameMap[K] {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(properties)) {
    if (value === undefined) continue;
    if (name.includes('-') || name === 'role' || name === 'for') element.setAttribute(name, String(value));
    else Reflect.set(element, name, value);
  }
  element.append(...children.filter((child) => child !== null));
  return element;
}

/** Placed by the script: the page's policy takes no styles from markup. */
export function place<T extends HTMLElement>(element: T, styles: Readonly<Record<string, string>>): T {
  for (const [name, value] of Object.entries(styles)) element.style.setProperty(name, value);
  return element;
}
