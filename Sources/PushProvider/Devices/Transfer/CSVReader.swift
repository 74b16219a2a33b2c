import NIOCore

/// Splits the bytes of a CSV file (RFC 4180) into rows. The bytes may arrive in buffers of any size.
///
/// Quoted cells may contain commas, line breaks and doubled quotation marks. Rows end with CR LF, LF or CR. Only one
/// row is kept in memory.
struct CSVReader {
    struct Row: Equatable {
        /// The line on which the row begins, from 1.
        var line: Int
        var content: Content
    }

    enum Content: Equatable {
        case cells([String])
        case fault(Fault)
    }

    /// The fault of a row that cannot be read. Reading continues after the next line end.
    enum Fault: String, Error, Equatable {
        /// A quotation mark inside an unquoted cell, or text after a closing quotation mark.
        case misplacedQuote = "a quotation mark must enclose the whole cell; inside one it is doubled"
        case unclosedQuote = "the file ends inside quotation marks"
        case tooLong = "a row has at most 65536 bytes"
        case tooManyCells = "a row has at most 128 cells"
        case notUnicode = "the text is not UTF-8"
    }

    private enum State {
        case start
        case plain
        case quoted
        /// The state after a quotation mark in a quoted cell, which closes the cell or is the first of a doubled mark.
        case quote
        /// The state in which the rest of a line is skipped after a fault.
        case skipping(Fault)
    }

    private static let byteOrderMark: [UInt8] = [0xef, 0xbb, 0xbf]

    private var state = State.start
    private var cells: [String] = []
    private var cell: [UInt8] = []
    private var length = 0
    private var line = 1
    private var firstLine = 1
    /// A Boolean value that indicates whether the last byte was the CR that ended a row, after which an LF is skipped.
    private var isAfterReturn = false
    private var bytesSeen = 0

    /// Reads the next bytes of the file, and returns the rows that end in them.
    mutating func feed(_ bytes: ByteBufferView) -> [Row] {
        var rows: [Row] = []
        for byte in bytes {
            if self.isByteOrderMark(byte) { continue }
            if let row = self.take(byte) { rows.append(row) }
        }
        return rows
    }

    /// Returns the last row if it has no line end, or `nil` otherwise.
    mutating func finish() -> Row? {
        if case .quoted = self.state { self.state = .skipping(.unclosedQuote) }
        return self.length == 0 ? nil : self.endRow()
    }

    /// Returns whether the byte belongs to a byte order mark at the beginning of the file, which is skipped.
    private mutating func isByteOrderMark(_ byte: UInt8) -> Bool {
        guard self.bytesSeen < 3 else { return false }
        let isMark = byte == Self.byteOrderMark[self.bytesSeen]
        // Any other byte ends the search. The bytes that were skipped are no loss: a partial mark is not valid UTF-8.
        self.bytesSeen = isMark ? self.bytesSeen + 1 : 3
        return isMark
    }

    private mutating func take(_ byte: UInt8) -> Row? {
        let isAfterReturn = self.isAfterReturn
        self.isAfterReturn = false
        if isAfterReturn, byte == UInt8(ascii: "\n") { return nil }
        self.length += 1
        if self.length > TransferLimits.maximumRecord { self.fail(.tooLong) }
        switch byte {
        case UInt8(ascii: "\n"), UInt8(ascii: "\r"):
            if case .quoted = self.state {
                if byte == UInt8(ascii: "\n") { self.line += 1 }
                self.cell.append(byte)
                return nil
            }
            self.isAfterReturn = byte == UInt8(ascii: "\r")
            defer {
                self.line += 1
                self.firstLine = self.line
            }
            return self.endRow()
        default: self.advance(byte)
        }
        return nil
    }

    private mutating func advance(_ byte: UInt8) {
        let (comma, mark) = (UInt8(ascii: ","), UInt8(ascii: "\""))
        switch (self.state, byte) {
        case (.skipping, _): break
        case (.start, comma), (.plain, comma), (.quote, comma): self.endCell()
        case (.start, mark): self.state = .quoted
        case (.quoted, mark): self.state = .quote
        case (.quote, mark):
            self.cell.append(mark)
            self.state = .quoted
        case (.plain, mark), (.quote, _): self.fail(.misplacedQuote)
        case (.start, _):
            self.state = .plain
            self.cell.append(byte)
        case (.plain, _), (.quoted, _): self.cell.append(byte)
        }
    }

    private mutating func endCell() {
        guard let text = String(validating: self.cell, as: UTF8.self) else { return self.fail(.notUnicode) }
        guard self.cells.count < TransferLimits.maximumColumns else { return self.fail(.tooManyCells) }
        self.cells.append(text)
        self.cell.removeAll(keepingCapacity: true)
        self.state = .start
    }

    private mutating func fail(_ fault: Fault) {
        if case .skipping = self.state { return }
        self.state = .skipping(fault)
        self.cell.removeAll(keepingCapacity: true)
    }

    /// Finishes the current row and returns it, or returns `nil` for an empty line.
    private mutating func endRow() -> Row? {
        defer {
            self.cells.removeAll(keepingCapacity: true)
            self.cell.removeAll(keepingCapacity: true)
            self.state = .start
            self.length = 0
        }
        if case .start = self.state, self.cells.isEmpty { return nil }
        if case .skipping = self.state {} else { self.endCell() }
        if case .skipping(let fault) = self.state { return Row(line: self.firstLine, content: .fault(fault)) }
        return Row(line: self.firstLine, content: .cells(self.cells))
    }
}
