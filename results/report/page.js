// Draws the charts of the page from its JSON with Chart.js, again when the colour scheme changes.
(function () {
  'use strict';
  const data = JSON.parse(document.getElementById('data').textContent);

  // After Okabe and Ito, who chose colours that colour-blind readers tell apart; curves differ in
  // dashes and marks as well, neighbouring parts of a stack in lightness.
  const THEMES = {
    light: {
      ink: '#1b1f24', line: '#d9dee3', paper: '#ffffff',
      palette: ['#0072b2', '#d55e00', '#009e73', '#cc79a7', '#a67800', '#56b4e9', '#3d3d3d', '#7a5195'],
      roles: {live: '#0072b2', reserved: '#7cc4f0', overestimate: '#e69f00', rounding: '#b34700',
        free: '#d4d8dc', running: '#0072b2', waiting: '#d55e00', kernel: '#0072b2', roof: '#b8bec5',
        published: '#e69f00', slower: '#b34700', changed: '#a2478c', undecided: '#8a6500',
        faster: '#0072b2', same: '#8a939c'}
    },
    dark: {
      ink: '#e6e9ed', line: '#333b45', paper: '#14181d',
      palette: ['#56b4e9', '#f0883e', '#2fc79a', '#e39bc4', '#e6c229', '#9db7ff', '#c9cfd6', '#c39bd8'],
      roles: {live: '#2b8fd0', reserved: '#9ad4f7', overestimate: '#e6a817', rounding: '#d2601a',
        free: '#4a535e', running: '#56b4e9', waiting: '#f0883e', kernel: '#2b8fd0', roof: '#6b7580',
        published: '#e6a817', slower: '#f0883e', changed: '#e39bc4', undecided: '#e6c229',
        faster: '#56b4e9', same: '#8a939c'}
    }
  };
  const DASHES = [[], [7, 4], [2, 3], [10, 3, 2, 3], [], [7, 4], [2, 3], [10, 3, 2, 3]];
  const POINTS = ['circle', 'rect', 'triangle', 'rectRot', 'crossRot', 'star', 'circle', 'rect'];
  const MANY_POINTS = 40;
  const LYING = ['bars', 'stacked-bars', 'intervals'];
  const dark = window.matchMedia('(prefers-color-scheme: dark)');
  let charts = [];

  function short(value) {
    const size = Math.abs(value);
    const digits = Number.isInteger(value) || size >= 1000 ? 0 : size >= 10 ? 1 : size >= 1 ? 2 : 3;
    return value.toLocaleString('en-US', {minimumFractionDigits: 0, maximumFractionDigits: digits});
  }

  // Long names in lines, broken behind spaces and slashes.
  function lines(text, columns) {
    const out = [''];
    for (const word of text.split(/(?<=[ \/])/)) {
      if (out[out.length - 1] && (out[out.length - 1] + word).length > columns) {
        out.push('');
      }
      out[out.length - 1] += word;
    }
    return out.map((line) => line.trim()).filter((line) => line !== '');
  }

  function textOn(color) {
    const part = (i) => parseInt(color.slice(i, i + 2), 16);
    return 0.299 * part(1) + 0.587 * part(3) + 0.114 * part(5) > 140 ? '#000000' : '#ffffff';
  }

  // The numbers at the bars: inside the parts of a stack where they fit, behind other bars.
  const barNumbers = {
    id: 'barNumbers',
    afterDatasetsDraw(chart, _args, options) {
      if (!options.on) {
        return;
      }
      const ctx = chart.ctx;
      ctx.save();
      ctx.font = '11px system-ui, "DejaVu Sans", sans-serif';
      ctx.textBaseline = 'middle';
      chart.data.datasets.forEach((set, i) => {
        chart.getDatasetMeta(i).data.forEach((bar, j) => {
          const value = set.data[j];
          if (value === null || value === undefined || !chart.isDatasetVisible(i)) {
            return;
          }
          const text = options.stacked ? value.toFixed(value < 10 ? 1 : 0) : short(value);
          const width = ctx.measureText(text).width;
          if (options.stacked) {
            if (Math.abs(bar.x - bar.base) > width + 6) {
              ctx.textAlign = 'center';
              ctx.fillStyle = textOn(set.backgroundColor);
              ctx.fillText(text, (bar.x + bar.base) / 2, bar.y);
            }
          } else {
            ctx.textAlign = 'left';
            ctx.fillStyle = options.ink;
            ctx.fillText(text, Math.max(bar.x, bar.base) + 4, bar.y);
          }
        });
      });
      ctx.restore();
    }
  };

  // What floating bars lack: what values are compared with, and the value within its interval.
  const intervalMarks = (panel, ink) => ({
    id: 'intervalMarks',
    beforeDatasetsDraw(chart) {
      const {ctx, chartArea, scales} = chart;
      ctx.save();
      ctx.strokeStyle = ink;
      for (const guide of panel.guides) {
        const x = scales.x.getPixelForValue(guide);
        ctx.setLineDash(guide === 1 ? [] : [4, 4]);
        ctx.beginPath();
        ctx.moveTo(x, chartArea.top);
        ctx.lineTo(x, chartArea.bottom);
        ctx.stroke();
      }
      ctx.restore();
    },
    afterDatasetsDraw(chart) {
      const {ctx, chartArea, scales} = chart;
      ctx.save();
      ctx.font = '11px system-ui, "DejaVu Sans", sans-serif';
      ctx.textBaseline = 'middle';
      ctx.fillStyle = ink;
      panel.series.forEach((series, i) => {
        chart.getDatasetMeta(i).data.forEach((bar, j) => {
          const value = series.values[j];
          if (value === null || !chart.isDatasetVisible(i)) {
            return;
          }
          ctx.fillRect(scales.x.getPixelForValue(value) - 1.5, bar.y - 8, 3, 16);
          // Beside the lines, which would cross it behind the bar.
          ctx.fillText(`${value.toFixed(3)} ${series.name}`, chartArea.right + 8, bar.y);
        });
      });
      ctx.restore();
    }
  });

  function dataset(series, index, panel, theme) {
    const color = theme.roles[series.role] || theme.palette[index % theme.palette.length];
    const bars = LYING.includes(panel.kind);
    const areas = panel.kind === 'stacked-areas';
    const set = {
      label: series.name,
      data: series.ranges.length ? series.ranges :
        series.values.length ? series.values : series.points.map(([x, y]) => ({x, y})),
      backgroundColor: color
    };
    if (bars) {
      const intervals = panel.kind === 'intervals';
      return Object.assign(set, {borderColor: theme.paper, borderWidth: intervals ? 0 : 1,
        maxBarThickness: intervals ? 9 : 26, borderSkipped: false, grouped: !intervals});
    }
    const many = set.data.length > MANY_POINTS;
    return Object.assign(set, {
      borderColor: areas ? theme.paper : color, borderWidth: areas ? 0.5 : 2,
      borderDash: areas ? [] : DASHES[index % DASHES.length],
      pointStyle: POINTS[index % POINTS.length], pointRadius: many || areas ? 0 : 4,
      pointBorderColor: color, spanGaps: true, fill: areas ? (index === 0 ? 'origin' : '-1') : false,
      stepped: false, tension: 0
    });
  }

  function configuration(panel, theme) {
    const bars = LYING.includes(panel.kind);
    const intervals = panel.kind === 'intervals';
    const stacked = panel.kind.startsWith('stacked');
    const filled = bars || stacked;
    const categories = panel.categories.length > 0;
    const many = panel.series.some((s) => Math.max(s.points.length, s.values.length) > MANY_POINTS);
    const axis = (title) => ({
      title: {display: title !== '', text: title, color: theme.ink},
      ticks: {color: theme.ink}, grid: {color: theme.line}, border: {color: theme.line}
    });
    const x = axis(panel.x);
    const y = axis(panel.y);
    const value = bars ? x : y;
    value.stacked = stacked;
    value.beginAtZero = !panel.log_y && !intervals;
    if (intervals) {
      value.suggestedMin = Math.min(...panel.guides);
      value.suggestedMax = Math.max(...panel.guides);
    }
    if (panel.y_max !== null) {
      value.max = panel.y_max;
    }
    if (panel.log_y) {
      value.type = 'logarithmic';
      // 1, 2 and 5 of each decade: all of them would overlap.
      value.ticks.callback = (tick) => {
        const first = Number(tick.toExponential()[0]);
        return [1, 2, 5].includes(first) && Number.isFinite(tick) ? short3(tick) : null;
      };
      value.ticks.autoSkipPadding = 8;
    }
    if (bars) {
      y.stacked = stacked;
      y.grid.display = false;
      y.ticks.autoSkip = false;
      y.ticks.callback = function (_value, index) {
        return lines(panel.categories[index], this.chart.width < 520 ? 16 : 44);
      };
    } else if (!categories) {
      x.type = 'linear';
      const xs = panel.series.flatMap((s) => s.points.map((p) => p[0]));
      if (many && xs.length) {
        const first = Math.min(...xs);
        x.max = Math.max(...xs);
        x.min = first > 0 && first < x.max / 5 ? 0 : first;
      }
      x.ticks.maxRotation = 0;
      x.ticks.includeBounds = false;
      x.ticks.callback = (tick) => short(tick);
    }
    return {
      type: bars ? 'bar' : 'line',
      data: {
        labels: categories ? panel.categories : undefined,
        datasets: panel.series.map((series, i) => dataset(series, i, panel, theme))
      },
      options: {
        indexAxis: bars ? 'y' : 'x', responsive: true, maintainAspectRatio: false,
        animation: false, color: theme.ink,
        layout: {padding: {right: panel.kind === 'bars' ? 52 : intervals ? 104 : 14, top: 2}},
        scales: {x, y},
        interaction: {mode: 'nearest', intersect: false},
        plugins: {
          legend: {display: panel.series.length > 1, position: 'top', align: 'start',
            labels: {color: theme.ink, usePointStyle: !filled, boxWidth: filled ? 14 : 30,
              boxHeight: filled ? 10 : 7}},
          barNumbers: {on: bars && !intervals, stacked, ink: theme.ink}
        }
      },
      plugins: [intervals ? intervalMarks(panel, theme.ink) : barNumbers]
    };
  }

  function short3(value) {
    return value.toLocaleString('en-US', {maximumSignificantDigits: 3});
  }

  // Bars lie below one another: the panel is as high as they need.
  function setHeight(panel, box) {
    if (!LYING.includes(panel.kind)) {
      return;
    }
    const columns = box.clientWidth < 520 ? 16 : 44;
    const each = panel.kind === 'bars' ? 17 * panel.series.length + 8 : 30;
    let height = panel.series.length > 1 ? 96 : 64;
    const most = Math.max(...panel.categories.map((name) => lines(name, columns).length));
    height += panel.categories.length * Math.max(each, 15 * most + 8);  // all get the same
    box.style.height = Math.max(height, 150) + 'px';
  }

  function draw(theme) {
    for (const chart of charts) {
      chart.destroy();
    }
    charts = [];
    for (const canvas of document.querySelectorAll('canvas[data-chart]')) {
      const panel = data.charts[canvas.dataset.chart].panels[canvas.dataset.panel];
      setHeight(panel, canvas.parentElement);
      const chart = new Chart(canvas, configuration(panel, theme));
      charts.push(chart);
      // For tests and for who looks: how many marks stand on this canvas.
      canvas.dataset.marks = chart.data.datasets.reduce((sum, _set, i) =>
        sum + chart.getDatasetMeta(i).data.filter((mark) =>
          Number.isFinite(mark.x) && Number.isFinite(mark.y)).length, 0);
    }
    document.documentElement.dataset.charts = charts.length;
  }

  const current = () => (dark.matches ? THEMES.dark : THEMES.light);
  draw(current());
  dark.addEventListener('change', () => draw(current()));
  let closed = [];
  window.addEventListener('beforeprint', () => {
    closed = [...document.querySelectorAll('figure details:not([open]):not(.keys)')];
    closed.forEach((details) => { details.open = true; });
    draw(THEMES.light);
  });
  window.addEventListener('afterprint', () => {
    closed.forEach((details) => { details.open = false; });
    draw(current());
  });
})();
