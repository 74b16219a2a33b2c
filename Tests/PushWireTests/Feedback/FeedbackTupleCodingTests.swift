import NIOCore
import PushTesting
import PushTypes
import PushWire
import Testing

/// Reference 6 and the stream of 8.8.
@Suite struct FeedbackTupleCodingTests {
    static let stream = "6553f1000020\(Vectors.tokenA)6553f2f40036\(Vectors.tokenC)"

    static func tuples() throws -> [FeedbackTuple] {
        [
            FeedbackTuple(seconds: 1_700_000_000, token: try #require(DeviceToken(hex: Vectors.tokenA))),
            FeedbackTuple(seconds: 1_700_000_500, token: try #require(DeviceToken(hex: Vectors.tokenC))),
        ]
    }

    @Test func theStreamIsWrittenAndReadByteByByte() throws {
        var written = ByteBuffer()
        for tuple in try Self.tuples() { tuple.write(to: &written) }
        #expect(Hexadecimal.encode(written.readableBytesView) == Self.stream)
        #expect(written.readableBytes == 98)

        var (received, read) = (ByteBuffer(), [FeedbackTuple]())
        for byte in written.readableBytesView {
            received.writeInteger(byte)
            while let tuple = try FeedbackTuple.read(from: &received) { read.append(tuple) }
        }
        #expect(try read == Self.tuples())
        #expect(read.first?.timestamp == Timestamp(seconds: 1_700_000_000))
        #expect(received.readableBytes == 0)
    }

    @Test(arguments: [0, 513, 0xffff])
    func aTokenLengthOutOfBoundsIsRejectedBeforeTheTokenIsThere(length: Int) {
        var buffer = ByteBuffer()
        buffer.writeMultipleIntegers(UInt32(0), UInt16(length))
        #expect(throws: FeedbackTuple.Malformed(tokenLength: length)) { try FeedbackTuple.read(from: &buffer) }
    }

    @Test func tokensMayHoldTheBytesOfLineEnds() throws {
        let token = try #require(DeviceToken(bytes: Array("\n\r\n\0".utf8)))
        var buffer = ByteBuffer()
        FeedbackTuple(seconds: 0x0a0a_0a0a, token: token).write(to: &buffer)
        let read = try FeedbackTuple.read(from: &buffer)
        #expect(read?.token == token)
    }

    @Test func randomBytesAreReadOrRejectedButNeverCrash() {
        var generator = SystemRandomNumberGenerator()
        for _ in 0..<2_000 {
            var buffer = ByteBuffer(bytes: (0..<64).map { _ in UInt8.random(in: 0...255, using: &generator) })
            while let tuple = try? FeedbackTuple.read(from: &buffer) { #expect(!tuple.token.bytes.isEmpty) }
        }
    }
}
