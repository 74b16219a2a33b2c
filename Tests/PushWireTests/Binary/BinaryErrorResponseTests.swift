import NIOCore
import PushTypes
import PushWire
import Testing

/// Reference 5.2 and the error packets of 8.7.
@Suite struct BinaryErrorPacketTests {
    static let vectors: [(String, BinaryErrorResponse)] = [
        ("080801020304", BinaryErrorResponse(status: .invalidToken, identifier: 0x0102_0304)),
        ("080700000001", BinaryErrorResponse(status: .invalidPayloadSize, identifier: 1)),
        ("080a01020304", BinaryErrorResponse(status: .shutdown, identifier: 0x0102_0304)),
        ("088000000000", BinaryErrorResponse(status: .protocolError)),
        ("08ff00000000", BinaryErrorResponse(status: .unknown)),
        ("080900000001", BinaryErrorResponse(status: BinaryStatus(rawValue: 9), identifier: 1)),
    ]

    @Test(arguments: vectors)
    func theVectorsAreReadAndWrittenByteByByte(hex: String, packet: BinaryErrorResponse) throws {
        #expect(Hexadecimal.encode(packet.encoded.readableBytesView) == hex)
        var received = ByteBuffer()
        for byte in try #require(Hexadecimal.decode(hex)).dropLast() {
            received.writeInteger(byte)
            let early = try BinaryErrorResponse.read(from: &received)
            #expect(early == nil)
        }
        received.writeInteger(try #require(Hexadecimal.decode(hex)?.last))
        let read = try BinaryErrorResponse.read(from: &received)
        #expect(read == packet)
        #expect(received.readableBytes == 0)
    }

    @Test func anotherCommandIsNoErrorPacket() {
        var buffer = ByteBuffer(bytes: [9])
        #expect(throws: BinaryErrorResponse.Malformed(command: 9)) { try BinaryErrorResponse.read(from: &buffer) }
    }

    @Test func everyStatusHasATextAndAScope() {
        #expect(BinaryStatus.invalidToken.text == "invalid token")
        #expect(BinaryStatus(rawValue: 9).text == "status 9")
        #expect(Set((0...UInt8.max).map { BinaryStatus(rawValue: $0).text }).count == 256)
        let connection = (0...UInt8.max).filter { BinaryStatus(rawValue: $0).scope == .connection }
        #expect(connection == [3, 6])
        #expect(BinaryStatus.processingError.scope == .server)
        #expect(BinaryStatus.shutdown.scope == .none)
    }
}
