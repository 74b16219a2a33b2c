import NIOCore
import PushSupport
import PushTesting
import Testing

@testable import PushHTTP

@Suite struct MultipartReaderTests {
    private static let contentType = "multipart/form-data; boundary=b"
    private static let form = """
        preamble\r\n--b\r\ncontent-disposition: form-data; name="csrf"\r\n\r\ntoken\r\n--b\r
        Content-Disposition: form-data; name="file"; filename="a.zip"\r\nContent-Type: application/zip\r\n\r
        one\r\n--c\r\n\r\n--two\r\n--b\r\ncontent-disposition: form-data; name="last"\r\n\r\nü\r\n--b--epilogue
        """

    /// Reads a body that arrives in pieces of a length, and joins the bytes of files.
    private static func events(_ text: String, piece: Int) throws -> [MultipartReader.Event] {
        var limits = FormData.Limits()
        limits.acceptsFiles = true
        var reader = try MultipartReader(contentType: Self.contentType, limits: limits)
        var (events, rest): ([MultipartReader.Event], ArraySlice<UInt8>) = ([], Array(text.utf8)[...])
        while true {
            while let event = try reader.next() {
                if case .fileBytes(let bytes) = event, case .fileBytes(var earlier)? = events.last {
                    earlier.writeImmutableBuffer(bytes)
                    events[events.count - 1] = .fileBytes(earlier)
                } else {
                    events.append(event)
                }
                if event == .ended { return events }
            }
            guard !rest.isEmpty else { throw reader.unfinished }
            reader.append(ByteBuffer(bytes: rest.prefix(piece)))
            rest = rest.dropFirst(piece)
        }
    }

    @Test(arguments: [1, 2, 3, 5, 7, 64, 100_000]) func pieceByPieceIsTheSame(piece: Int) throws {
        let expected: [MultipartReader.Event] = [
            .field(name: "csrf", value: "token"),
            .fileBegan(name: "file", fileName: "a.zip", contentType: "application/zip"),
            .fileBytes(ByteBuffer(string: "one\r\n--c\r\n\r\n--two")), .fileEnded, .field(name: "last", value: "ü"),
            .ended,
        ]
        #expect(try Self.events(Self.form, piece: piece) == expected)
    }

    @Test func everyBeginningOfABodyIsUnfinished() throws {
        let end = Self.form.utf8.count - "epilogue".utf8.count
        for count in 0..<end {
            let text = String(decoding: Self.form.utf8.prefix(count), as: UTF8.self)
            #expect(throws: RequestError.self, "\(count)") { try Self.events(text, piece: 10) }
        }
    }

    @Test func aFileIsNotKept() throws {
        var limits = FormData.Limits()
        limits.acceptsFiles = true
        var reader = try MultipartReader(contentType: Self.contentType, limits: limits)
        reader.append(ByteBuffer(string: "--b\r\ncontent-disposition: form-data; name=f; filename=x\r\n\r\n"))
        #expect(try reader.next() == .fileBegan(name: "f", fileName: "x", contentType: nil))
        let piece = ByteBuffer(repeating: 0x0d, count: 1000)
        var received = 0
        for _ in 0..<1000 {
            reader.append(piece)
            while case .fileBytes(let bytes)? = try reader.next() { received += bytes.readableBytes }
        }
        // What may be the beginning of a delimiter is not passed on yet.
        #expect((999_990...1_000_000).contains(received))
    }

    @Test func aFieldHasALimitThatItsBodyNeedNotReach() throws {
        var reader = try MultipartReader(contentType: Self.contentType, limits: FormData.Limits())
        reader.append(ByteBuffer(string: "--b\r\ncontent-disposition: form-data; name=f\r\n\r\n"))
        reader.append(ByteBuffer(repeating: 0x61, count: 9000))
        #expect(throws: RequestError.self) { try reader.next() }
    }
}
