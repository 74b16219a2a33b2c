/// Splits CSV into records (RFC 4180), however its bytes are cut into pieces. A record is a line, or several where cells
/// in quotation marks have line ends in them.
struct CSVReader {
    /// Longest record, in bytes.
    static let maximumLength = 64 * 1024
    /// Most cells of a record.
    static let maximumCells = 1000

    enum Fault: Equatable {
        case tooLong
        case tooManyCells
        /// A quotation mark in the middle of a cell, or no second one.
        case quotation
    }

    enum Record: Equatable {
        /// The number is that of the line where the record begins.
        case cells(number: Int, [[UInt8]])
        case fault(number: Int, Fault)
    }

    private enum State {
        /// Nothing of the cell has come.
        case start
        case plain
        case quoted
        /// After a quotation mark in a quoted cell: its end, or half of a mark that belongs to it.
        case mark
        /// To the end of a line that cannot be used.
        case skipping
    }

    private var state = State.start
    private var cells: [[UInt8]] = []
    private var cell: [UInt8] = []
    /// Bytes of the record so far.
    private var length = 0
    private var line = 1
    private var firstLine = 1
    private var fault: Fault?
    private var isAfterReturn = false

    mutating func read(_ bytes: [UInt8], _ body: (Record) -> Void) {
        for byte in bytes { self.take(byte, body) }
    }

    /// The last record may have no line end.
    mutating func end(_ body: (Record) -> Void) {
        if self.state == .quoted { self.fault = self.fault ?? .quotation }
        let isEmpty = self.length == 0 && self.fault == nil
        if !isEmpty { self.finish(body) }
    }

    private mutating func take(_ byte: UInt8, _ body: (Record) -> Void) {
        // CRLF is one line end, and so is a CR alone.
        let isSecondHalf = self.isAfterReturn && byte == UInt8(ascii: "\n")
        self.isAfterReturn = byte == UInt8(ascii: "\r")
        let isLineEnd = byte == UInt8(ascii: "\n") || byte == UInt8(ascii: "\r")
        if isLineEnd, !isSecondHalf { self.line += 1 }
        if isLineEnd, self.state != .quoted {
            if !isSecondHalf { self.finish(body) }
            return
        }
        self.length += 1
        if self.length > Self.maximumLength { self.fail(.tooLong) }
        switch self.state {
        case .skipping: break
        case .start where byte == UInt8(ascii: "\""): self.state = .quoted
        case .start, .plain: self.plain(byte)
        case .quoted where byte == UInt8(ascii: "\""): self.state = .mark
        case .quoted: self.cell.append(byte)
        case .mark: self.afterMark(byte)
        }
    }

    private mutating func plain(_ byte: UInt8) {
        switch byte {
        case UInt8(ascii: ","): self.endCell()
        case UInt8(ascii: "\""): self.fail(.quotation)
        default:
            self.state = .plain
            self.cell.append(byte)
        }
    }

    private mutating func afterMark(_ byte: UInt8) {
        switch byte {
        case UInt8(ascii: "\""):
            self.state = .quoted
            self.cell.append(byte)
        case UInt8(ascii: ","): self.endCell()
        default: self.fail(.quotation)
        }
    }

    private mutating func endCell() {
        self.state = .start
        self.cells.append(self.cell)
        self.cell = []
        if self.cells.count >= Self.maximumCells { self.fail(.tooManyCells) }
    }

    /// What comes until the end of the line cannot be told apart any more.
    private mutating func fail(_ fault: Fault) {
        self.fault = self.fault ?? fault
        self.state = .skipping
        self.cells = []
        self.cell = []
    }

    private mutating func finish(_ body: (Record) -> Void) {
        if let fault = self.fault {
            body(.fault(number: self.firstLine, fault))
        } else if self.length > 0 {
            body(.cells(number: self.firstLine, self.cells + [self.cell]))
        }
        self.state = .start
        self.cells = []
        self.cell = []
        self.length = 0
        self.fault = nil
        self.firstLine = self.line
    }
}
