// The theme before the first paint, so that a dark page never flashes white. A file of its own, because the pages' content
// security policy allows no inline scripts.
try {
  document.documentElement.dataset.theme = localStorage.getItem('theme');
} catch {}
if (!/^(light|dark)$/.test(document.documentElement.dataset.theme))
  document.documentElement.dataset.theme = matchMedia('(prefers-color-scheme: dark)').matches ? 'dark' : 'light';
