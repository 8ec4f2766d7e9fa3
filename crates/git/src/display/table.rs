//! Paths in columns, laid out as by git-column(1).

use super::width::width;
use super::Layout;
use bstr::BString;

/// Number of spaces between two columns.
const PADDING: usize = 1;

/// Layout options of a table.
#[derive(Clone, Copy, Debug)]
pub struct Table {
    /// The order of the cells.
    pub layout: Layout,
    /// Whether columns are as narrow as their cells, instead of all having one width.
    pub dense: bool,
    /// The width of a line in characters. A wider cell makes its line wider.
    pub width: usize,
}

impl Table {
    /// The lines of the table. Each begins with `indent`, all of whose bytes count as width, and
    /// ends with `end`.
    pub fn lines(&self, cells: &[BString], indent: &[u8], end: &[u8]) -> Vec<u8> {
        let widths: Vec<usize> = cells.iter().map(|cell| width(cell)).collect();
        let grid = Grid::new(self, &widths, indent.len());
        let mut text = Vec::new();
        for y in 0..grid.rows {
            text.extend_from_slice(indent);
            for x in 0..grid.columns.len() {
                let Some(cell) = grid.cell(x, y) else { break };
                text.extend_from_slice(&cells[cell]);
                let is_last = x + 1 == grid.columns.len() || grid.cell(x + 1, y).is_none();
                if !is_last {
                    let padding = grid.columns[x].saturating_sub(widths[cell]);
                    text.resize(text.len() + padding, b' ');
                }
            }
            text.extend_from_slice(end);
        }
        text
    }
}

/// The arrangement of cells.
#[derive(Debug, PartialEq, Eq)]
struct Grid {
    by_row: bool,
    cells: usize,
    rows: usize,
    /// The width of each column with its padding.
    columns: Vec<usize>,
}

impl Grid {
    fn new(table: &Table, widths: &[usize], indent: usize) -> Self {
        let widest = PADDING + widths.iter().max().copied().unwrap_or(0);
        let fitting = match table.layout {
            Layout::Plain => 1,
            _ => table.width.saturating_sub(indent) / widest,
        };
        let fitting = fitting.clamp(1, widths.len().max(1));
        let mut grid = Grid {
            by_row: table.layout == Layout::Row,
            cells: widths.len(),
            rows: widths.len().div_ceil(fitting),
            columns: vec![widest; fitting],
        };
        if table.dense && table.layout != Layout::Plain {
            grid.narrow(widths);
            while let Some(shorter) = grid.shorter(widths) {
                if indent + shorter.columns.iter().sum::<usize>() > table.width {
                    break;
                }
                grid = shorter;
            }
        }
        grid
    }

    /// The same cells with one row less.
    fn shorter(&self, widths: &[usize]) -> Option<Self> {
        let rows = self.rows.checked_sub(1).filter(|rows| *rows > 0)?;
        let mut shorter = Grid {
            rows,
            columns: vec![0; self.cells.div_ceil(rows)],
            ..*self
        };
        shorter.narrow(widths);
        Some(shorter)
    }

    /// Reduces every column to the width of its widest cell.
    fn narrow(&mut self, widths: &[usize]) {
        for x in 0..self.columns.len() {
            let cells = (0..self.rows).filter_map(|y| self.cell(x, y));
            let widest = cells.map(|cell| widths[cell]).max();
            self.columns[x] = PADDING + widest.unwrap_or(0);
        }
    }

    fn cell(&self, x: usize, y: usize) -> Option<usize> {
        let cell = if self.by_row {
            y * self.columns.len() + x
        } else {
            x * self.rows + y
        };
        Some(cell).filter(|cell| *cell < self.cells)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(layout: Layout, dense: bool, width: usize, cells: &str) -> String {
        let cells: Vec<BString> = cells.split(' ').map(BString::from).collect();
        let table = Table {
            layout,
            dense,
            width,
        };
        String::from_utf8(table.lines(&cells, b">", b"|\n")).unwrap()
    }

    #[test]
    fn cells_fill_columns_or_rows() {
        for (layout, width, expected) in [
            (Layout::Column, 13, ">a   ccc e|\n>bb  d|\n"),
            (Layout::Row, 13, ">a   bb  ccc|\n>d   e|\n"),
            (Layout::Row, 12, ">a   bb|\n>ccc d|\n>e|\n"),
            (Layout::Plain, 13, ">a|\n>bb|\n>ccc|\n>d|\n>e|\n"),
            (Layout::Column, 0, ">a|\n>bb|\n>ccc|\n>d|\n>e|\n"),
            (Layout::Column, 99, ">a   bb  ccc d   e|\n"),
        ] {
            let found = lines(layout, false, width, "a bb ccc d e");
            assert_eq!(found, expected, "{layout:?} {width}");
        }
    }

    #[test]
    fn dense_columns_are_as_narrow_as_their_cells() {
        let cells = "long-name b c d e f gg";
        for (layout, dense, expected) in [
            (
                Layout::Column,
                false,
                ">long-name e|\n>b         f|\n>c         gg|\n>d|\n",
            ),
            (
                Layout::Column,
                true,
                ">long-name c e gg|\n>b         d f|\n",
            ),
            (Layout::Row, true, ">long-name b c  d|\n>e         f gg|\n"),
        ] {
            assert_eq!(lines(layout, dense, 22, cells), expected, "{layout:?}");
        }
    }
}
