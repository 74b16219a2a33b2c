import NIOCore
import PushTesting
import Testing

@testable import PushProvider

@Suite struct CSVReaderTests {
    /// Reads `text` in pieces of `size` bytes.
    static func rows(_ bytes: [UInt8], pieces size: Int) -> [CSVReader.Row] {
        var reader = CSVReader()
        var rows: [CSVReader.Row] = []
        for start in stride(from: 0, to: bytes.count, by: size) {
            let piece = ByteBuffer(bytes: bytes[start..<min(start + size, bytes.count)])
            rows += reader.feed(piece.readableBytesView)
        }
        if let last = reader.finish() { rows.append(last) }
        return rows
    }

    static func rows(_ text: String) -> [CSVReader.Row] { Self.rows(Array(text.utf8), pieces: 7) }

    private static func cells(_ line: Int, _ cells: String...) -> CSVReader.Row {
        CSVReader.Row(line: line, content: .cells(cells))
    }

    @Test(arguments: [1, 2, 3, 5, 1000])
    func quotesLineEndsAndCommasAreReadInAnySplit(size: Int) {
        let text = "\u{feff}a,b\r\n\"x,1\",\"say \"\"hi\"\"\"\n\r\n\"two\r\nlines\",ü\r,\n\"\",z"
        #expect(
            Self.rows(Array(text.utf8), pieces: size) == [
                Self.cells(1, "a", "b"), Self.cells(2, "x,1", "say \"hi\""), Self.cells(4, "two\r\nlines", "ü"),
                Self.cells(6, "", ""), Self.cells(7, "", "z"),
            ]
        )
    }

    @Test func aFaultEndsWithItsLine() {
        #expect(
            Self.rows("a\"b,c\nd\n\"e\"f\ng\n\"h") == [
                CSVReader.Row(line: 1, content: .fault(.misplacedQuote)), Self.cells(2, "d"),
                CSVReader.Row(line: 3, content: .fault(.misplacedQuote)), Self.cells(4, "g"),
                CSVReader.Row(line: 5, content: .fault(.unclosedQuote)),
            ]
        )
    }

    @Test func textThatIsNotUnicodeIsAFault() {
        let rows = Self.rows([0xff, 0x2c, 0x61, 0x0a, 0x62, 0x0a], pieces: 2)
        #expect(rows == [CSVReader.Row(line: 1, content: .fault(.notUnicode)), Self.cells(2, "b")])
    }

    @Test func aRowThatIsTooLongIsDroppedAndTheNextOneRead() {
        let long = "\"" + String(repeating: "x", count: 70_000) + "\nb\n"
        let rows = Self.rows(Array(long.utf8), pieces: 4096)
        #expect(rows.map(\.content) == [.fault(.tooLong), .cells(["b"])])
        let many = String(repeating: ",", count: 128) + "\nb"
        #expect(Self.rows(many).map(\.content) == [.fault(.tooManyCells), .cells(["b"])])
    }

    @Test func garbageNeverHarms() {
        var generator = SeededGenerator(seed: 7)
        let alphabet = Array("\",\r\n|\\a\u{feff}".utf8) + [0xff]
        for _ in 0..<500 {
            let bytes = (0..<200).compactMap { _ in alphabet.randomElement(using: &generator) }
            let whole = Self.rows(bytes, pieces: bytes.count)
            #expect(whole == Self.rows(bytes, pieces: 3))
        }
    }
}
