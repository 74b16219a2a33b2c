import NIOCore
import PushTypes
import Testing

@testable import PushWire

/// The checks of frames that both ends share (RFC 9113 sections 4 and 6).
@Suite struct HTTP2FrameReaderTests {
    @Test(arguments: Self.violations.keys.sorted())
    func brokenFramesAreConnectionErrors(name: String) throws {
        let (hex, code) = try #require(Self.violations[name])
        let error = #expect(throws: HTTP2ConnectionError.self) { _ = try Self.read(Self.settings + hex) }
        #expect(error?.code == code)
    }

    private static let violations: [String: (String, HTTP2ErrorCode)] = [
        "frame longer than allowed": ("004001" + "0000" + "00000003", .frameSizeError),
        "padding longer than DATA": ("000002" + "0008" + "00000003" + "0900", .protocolError),
        "padding without length": ("000000" + "0008" + "00000003", .protocolError),
        "padding longer than HEADERS": ("000002" + "010c" + "00000005" + "0900", .protocolError),
        "HEADERS with priority, too short": ("000004" + "0125" + "00000005" + "00000000", .frameSizeError),
        "CONTINUATION without HEADERS": ("000001" + "0904" + "00000001" + "88", .protocolError),
        "CONTINUATION of another stream": (
            "000001" + "0101" + "00000005" + "83" + "000001" + "0904" + "00000007" + "87", .protocolError
        ),
        "PING inside a header block": (
            "000001" + "0101" + "00000005" + "83" + "000008" + "0600" + "00000000" + "0000000000000000", .protocolError
        ),
        "SETTINGS on a stream": ("000000" + "0400" + "00000001", .protocolError),
        "SETTINGS of odd length": ("000005" + "0400" + "00000000" + "0000000000", .frameSizeError),
        "SETTINGS acknowledgement with content": ("000006" + "0401" + "00000000" + "000300000001", .frameSizeError),
        "PING of wrong length": ("000007" + "0600" + "00000000" + "00000000000000", .frameSizeError),
        "PING on a stream": ("000008" + "0600" + "00000001" + "0000000000000000", .protocolError),
        "GOAWAY too short": ("000007" + "0700" + "00000000" + "00000000000000", .frameSizeError),
        "GOAWAY on a stream": ("000008" + "0700" + "00000001" + "0000000000000000", .protocolError),
        "WINDOW_UPDATE of wrong length": ("000003" + "0800" + "00000000" + "000001", .frameSizeError),
        "RST_STREAM of wrong length": ("000003" + "0300" + "00000001" + "000001", .frameSizeError),
    ]

    @Test(arguments: ["000008" + "0600" + "00000000" + "0000000000000000", "000000" + "0401" + "00000000"])
    func theFirstFrameMustBeSettings(hex: String) {
        let error = #expect(throws: HTTP2ConnectionError.self) { _ = try Self.read(hex) }
        #expect(error?.code == .protocolError)
    }

    @Test func aHeaderBlockOverTheLimitIsAConnectionError() throws {
        let fragment = "003e80" + "0900" + "00000001" + String(repeating: "88", count: 16_000)
        let hex = Self.settings + "000000" + "0100" + "00000001" + fragment + fragment + fragment
        let error = #expect(throws: HTTP2ConnectionError.self) { _ = try Self.read(hex) }
        #expect(error?.code == .enhanceYourCalm)
    }

    @Test func framesAreTheSameInAnyPortions() throws {
        // HEADERS with padding and priority, CONTINUATION, DATA with padding, PING.
        let hex =
            Self.settings + "000009" + "0129" + "00000001" + "01" + "0000000110" + "8384" + "00"
            + "000001" + "0904" + "00000001" + "87" + "000004" + "0009" + "00000001" + "01616200"
            + "000008" + "0600" + "00000000" + "0102030405060708"
        let whole = try Self.read(hex)
        #expect(
            whole == [
                "settings 0", "headers of 1 incomplete", "continuation of 1, depends on itself: 838487", "data 6162",
                "ping 102030405060708",
            ]
        )
        for length in 1...20 { #expect(try Self.read(hex, inPortionsOf: length) == whole) }
    }

    // MARK: Helpers

    private static let settings = "000000" + "0400" + "00000000"

    /// Returns a text for each frame.
    private static func read(_ hex: String, inPortionsOf length: Int = .max) throws -> [String] {
        var bytes = try #require(Hexadecimal.decode(hex))[...]
        var reader = HTTP2FrameReader()
        var frames: [String] = []
        while !bytes.isEmpty {
            var input = reader.append(ByteBuffer(bytes: bytes.prefix(length)))
            bytes = bytes.dropFirst(length)
            var offset = 0
            let span = Array(input.readableBytesView)
            while let frame = try reader.next(span.span, at: &offset) {
                frames.append(Self.text(frame, span, &reader))
            }
            input.moveReaderIndex(forwardBy: offset)
            reader.keep(&input)
        }
        #expect(reader.restLength == 0)
        return frames
    }

    private static func text(_ frame: HTTP2Frame, _ bytes: [UInt8], _ reader: inout HTTP2FrameReader) -> String {
        switch frame.payload {
        case .settings(let range): return "settings \(range.count)"
        case .headers(nil): return "headers of \(frame.streamID) incomplete"
        case .continuation(let block?):
            let text = Hexadecimal.encode(block.range.map { Array(bytes[$0]) } ?? reader.takeGatheredBlock())
            return "continuation of \(frame.streamID)\(block.dependsOnItself ? ", depends on itself" : ""): \(text)"
        case .data(let range): return "data \(Hexadecimal.encode(Array(bytes[range])))"
        case .ping(let data): return "ping \(String(data, radix: 16))"
        default: return "\(frame)"
        }
    }
}
