// The theme before the first paint, so that a dark page never flashes white: the stored choice, or else the system's.
// The button of each page's header switches it.
// Later it follows both, on every open page. A file of its own, because the pages' content security policy allows no
// inline scripts.
{
  const { dataset } = document.documentElement;
  const system = matchMedia('(prefers-color-scheme: dark)');
  const follow = () => {
    let stored = null;
    try {
      stored = localStorage.getItem('theme');
    } catch {}
    dataset.theme = stored === 'light' || stored === 'dark' ? stored : system.matches ? 'dark' : 'light';
  };
  follow();
  addEventListener('storage', follow);
  addEventListener('click', ({ target }) => {
    if (!(target instanceof Element && target.closest('#theme'))) return;
    dataset.theme = dataset.theme === 'dark' ? 'light' : 'dark';
    dataset.chosen = '';
    try {
      localStorage.setItem('theme', dataset.theme);
    } catch {}
  });
  // Where nothing can be stored, a choice lasts as long as the page.
  system.addEventListener('change', () => 'chosen' in dataset || follow());
}
