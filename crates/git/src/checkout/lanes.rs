//! Files whose content comes from a filter program: a lane for each driver.

use super::contents::Contents;
use super::session::Session;
use super::transition::Write;
use crate::convert::Converter;
use crate::index::Index;
use hedgerow_pack::Reader;
use hedgerow_writer::LaneWriter;
use std::marker::PhantomData;

pub(crate) struct Lanes<'a> {
    rows: Vec<Vec<u32>>,
    p: PhantomData<&'a ()>,
}
impl<'a> Lanes<'a> {
    pub(crate) fn new(_s: &Session<'_>, _i: &Index, _w: &[Write], _c: &Converter) -> Self {
        Lanes {
            rows: vec![],
            p: PhantomData,
        }
    }
    pub(crate) fn rows(&self) -> &[Vec<u32>] {
        &self.rows
    }
    pub(crate) fn contains(&self, _row: u32) -> bool {
        false
    }
    pub(crate) fn run(
        &self,
        _c: &Contents<'_>,
        _r: &mut Reader<'_>,
        _l: usize,
        _w: &mut LaneWriter<'_>,
    ) {
    }
}
