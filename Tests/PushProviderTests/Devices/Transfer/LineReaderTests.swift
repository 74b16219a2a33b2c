import NIOCore
import Testing

@testable import PushProvider

@Suite struct LineReaderTests {
    static func lines(_ bytes: [UInt8], pieces size: Int) -> [LineReader.Line] {
        var reader = LineReader()
        var lines: [LineReader.Line] = []
        for start in stride(from: 0, to: bytes.count, by: size) {
            let piece = ByteBuffer(bytes: bytes[start..<min(start + size, bytes.count)])
            lines += reader.feed(piece.readableBytesView)
        }
        if let last = reader.finish() { lines.append(last) }
        return lines
    }

    @Test(arguments: [1, 2, 3, 100])
    func linesAreCutInAnySplit(size: Int) {
        let lines = Self.lines(Array("\u{feff}one\r\n\ntwo\nthree".utf8), pieces: size)
        #expect(lines.map(\.number) == [1, 2, 3, 4])
        #expect(lines.map { $0.bytes.map { String(decoding: $0, as: UTF8.self) } } == ["one", "", "two", "three"])
    }

    @Test func aLineThatIsTooLongIsDroppedAndTheNextOneRead() {
        let bytes = [UInt8](repeating: 0x61, count: 200_000) + Array("\nb".utf8)
        let lines = Self.lines(bytes, pieces: 10_000)
        #expect(lines == [LineReader.Line(number: 1, bytes: nil), LineReader.Line(number: 2, bytes: [0x62])])
    }
}
