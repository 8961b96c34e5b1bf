//! `report --benchmark`: a saved report says once more what it said when it was made, in the formats of others.

mod again;
