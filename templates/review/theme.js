// Before the first paint, so that a chosen theme never flashes in the other one.
try {
  const theme = localStorage.getItem("skill-lift:theme");
  if (theme === "light" || theme === "dark") document.documentElement.dataset.theme = theme;
} catch { /* storage is refused: the page follows the system */ }
