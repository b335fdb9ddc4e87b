//! What a run gave, as a table.

use std::fmt::Write;

use tf_value::{Tensor, show_shape};

/// An integer as it is; another number with six decimals, below 1e-3 and from 1e6 on in scientific notation.
fn number(value: f64) -> String {
    let magnitude = value.abs();
    if value.fract() == 0.0 && magnitude < 1e15 {
        format!("{value}")
    } else if (1e-3..1e6).contains(&magnitude) {
        format!("{value:.6}")
    } else if magnitude.is_finite() {
        format!("{value:.6e}")
    } else {
        format!("{value}")
    }
}

/// One row an output: name, dtype, shape, least, greatest and mean value, number of NaNs.
pub fn table(outputs: &[(String, Tensor)]) -> String {
    let mut rows = vec![["output", "dtype", "shape", "min", "max", "mean", "nan"].map(str::to_owned)];
    for (name, tensor) in outputs {
        let values = tensor.to_f64_vec();
        let numbers = || values.iter().copied().filter(|v| !v.is_nan());
        let count = numbers().count();
        let number = |value: f64| if count == 0 { "-".to_owned() } else { number(value) };
        rows.push([
            name.clone(),
            tensor.dtype().to_string(),
            show_shape(tensor.shape()),
            number(numbers().fold(f64::INFINITY, f64::min)),
            number(numbers().fold(f64::NEG_INFINITY, f64::max)),
            number(numbers().sum::<f64>() / count as f64),
            (values.len() - count).to_string(),
        ]);
    }
    let width = |column: usize| rows.iter().map(|row| row[column].chars().count()).max().unwrap_or(0);
    let widths: Vec<usize> = (0..7).map(width).collect();
    let mut text = String::new();
    for row in &rows {
        let mut line = String::new();
        for (column, (cell, &width)) in row.iter().zip(&widths).enumerate() {
            let _ = if column < 3 { write!(line, "{cell:<width$}  ") } else { write!(line, "{cell:>width$}  ") };
        }
        text.push_str(line.trim_end());
        text.push('\n');
    }
    text
}
