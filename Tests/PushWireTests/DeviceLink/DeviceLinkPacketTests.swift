import NIOCore
import PushTesting
import PushTypes
import PushWire
import Testing

@Suite struct DeviceLinkPacketTests {
    /// Reference 11: message with id 00000001 and payload P.
    static let message =
        "0a0000006c010020302bd38cc16adf6c9383e8848b91d895afccb2a5a5d1d52435f14c470aa7176702001471c1d2341ef04f940b7100b6935a"
        + "c99f8a5ff3f60300167b22617073223a7b22616c657274223a224869227d7d040004000000010500046553ff1006000817979cfe362a0000"
    static let ack =
        "0b0000002e010020302bd38cc16adf6c9383e8848b91d895afccb2a5a5d1d52435f14c470aa717670400040000000108000100"

    @Test func theMessageVectorIsReadAndWritten() throws {
        let packet = try Self.read(Self.message)
        let message = try #require(DeviceLinkMessage(packet))
        #expect(Hexadecimal.encode(message.token) == Vectors.tokenA)
        #expect(Hexadecimal.encode(message.topic.bytes) == Vectors.topicHash)
        #expect(String(buffer: message.payload) == Vectors.payload)
        #expect(message.messageID == 1)
        #expect(message.expiration == 1_700_003_600)
        #expect(message.sentAt == Timestamp(seconds: 1_700_000_000))
        #expect(Self.write(message.packet) == Self.message)
    }

    @Test func theAckVectorIsReadAndWritten() throws {
        let ack = try #require(DeviceLinkAcknowledgement(try Self.read(Self.ack)))
        #expect(ack.messageID == 1)
        #expect(ack.status == 0)
        #expect(Self.write(ack.packet) == Self.ack)
    }

    @Test func keepAliveVectors() throws {
        #expect(Self.write(DeviceLinkPacket(command: .keepAlive)) == "0c00000000")
        #expect(try Self.read("0d0000000401000100").command == DeviceLinkCommand.keepAliveAck.rawValue)
    }

    @Test func aConnectSurvivesTheWire() throws {
        let connect = DeviceLinkConnectRequest(
            baseToken: [1, 2, 3],
            state: .inactive,
            certificate: [4],
            nonce: [5],
            signature: [6],
            understandsExtensions: true
        )
        #expect(DeviceLinkConnectRequest(try Self.read(Self.write(connect.packet))) == connect)
    }

    @Test func aConnectResponseHasTheFieldsAnIndependentClientInsistsOn() {
        let response = DeviceLinkConnectResponse(status: .ok, serverTime: Timestamp(milliseconds: 1)).packet
        #expect(response.value(1)?.readableBytes == 1)
        #expect(response.value(4)?.readableBytes == 2)
        #expect(response.value(5)?.readableBytes == 2)
        #expect(response.value(6) != nil)
        #expect(response.value(10)?.readableBytes == 8)
    }

    @Test func aServerTimeBeyondTheRangeIsTheLastTimestamp() throws {
        let packet = DeviceLinkPacket(.connectResponse, [.integer(1, UInt8(0)), .integer(10, UInt64.max)])
        let response = try #require(DeviceLinkConnectResponse(packet))
        #expect(response.serverTime == Timestamp(milliseconds: .max))
        #expect(DeviceLinkConnectResponse(response.packet) == response)
    }

    @Test func everySplitOfAPacketGivesTheSamePacket() throws {
        let bytes = try #require(Hexadecimal.decode(Self.message))
        var received = ByteBuffer()
        for byte in bytes.dropLast() {
            received.writeInteger(byte)
            #expect(try DeviceLinkPacket.read(from: &received) == nil)
        }
        received.writeInteger(try #require(bytes.last))
        #expect(try DeviceLinkPacket.read(from: &received) == Self.read(Self.message))
    }

    @Test func anOverlongPayloadIsRejectedBeforeItArrives() {
        var buffer = ByteBuffer(bytes: [7, 0xff, 0xff, 0xff, 0xff])
        #expect(throws: DeviceLinkPacketError.tooLong(.max)) { try DeviceLinkPacket.read(from: &buffer) }
    }

    @Test(arguments: ["0c00000001aa", "0c000000020100", "0c00000004010005aa"])
    func aFieldThatReachesBeyondThePayloadIsRejected(hex: String) throws {
        var buffer = ByteBuffer(bytes: try #require(Hexadecimal.decode(hex)))
        #expect(throws: DeviceLinkPacketError.truncatedField) { try DeviceLinkPacket.read(from: &buffer) }
    }

    @Test func randomBytesAreReadOrRejectedButNeverCrash() {
        var generator = SystemRandomNumberGenerator()
        for _ in 0..<2_000 {
            let bytes = (0..<64).map { _ in UInt8.random(in: 0...255, using: &generator) }
            // Half of the runs announce a short payload, so that fields are reached at all.
            var buffer = ByteBuffer(bytes: Bool.random() ? bytes : [bytes[0] % 24, 0, 0, 0, bytes[1] % 59] + bytes)
            if let packet = try? DeviceLinkPacket.read(from: &buffer) {
                _ = (DeviceLinkConnectRequest(packet), DeviceLinkConnectResponse(packet), DeviceLinkFilter(packet))
                _ = (DeviceLinkMessage(packet), DeviceLinkAcknowledgement(packet), DeviceLinkTokenRequest(packet))
                _ = DeviceLinkTokenResponse(packet)
            }
        }
    }

    /// The gateway writes messages without the fields of a packet.
    @Test(arguments: [false, true])
    func aMessageIsWrittenDirectlyAsItsPacketIs(hasExtensions: Bool) throws {
        var message = try #require(DeviceLinkMessage(try Self.read(Self.message)))
        if hasExtensions {
            (message.apnsID, message.pushType, message.priority) = ("an id", "alert", 10)
            (message.collapseID, message.channelID) = ("a collapse id", "a channel")
        }
        var buffer = ByteBuffer(string: "before")
        message.write(to: &buffer)
        #expect(buffer.readString(length: 6) == "before")
        #expect(buffer == message.packet.encoded)
        let packet = try #require(try DeviceLinkPacket.read(from: &buffer))
        #expect(DeviceLinkMessage(packet) == message)
    }

    static func read(_ hex: String) throws -> DeviceLinkPacket {
        var buffer = ByteBuffer(bytes: try #require(Hexadecimal.decode(hex)))
        return try #require(try DeviceLinkPacket.read(from: &buffer))
    }

    static func write(_ packet: DeviceLinkPacket) -> String {
        Hexadecimal.encode(packet.encoded.readableBytesView)
    }

    @Test func theQuickReaderOfAcksReadsWhatTheGeneralOneReads() throws {
        var generator = SeededGenerator(seed: 11)
        for _ in 0..<2000 {
            var packet = DeviceLinkAcknowledgement(
                token: Bool.random(using: &generator) ? [1, 2, 3] : nil,
                messageID: .random(in: 0...(.max), using: &generator),
                status: .random(in: 0...3, using: &generator)
            ).packet.encoded
            if Bool.random(using: &generator) {
                let index = Int.random(in: 0..<packet.readableBytes, using: &generator)
                packet.setInteger(UInt8.random(in: 0...255, using: &generator), at: index)
            }
            var (quick, general) = (packet, packet)
            guard let ack = DeviceLinkAcknowledgement.read(from: &quick) else { continue }
            let read = try #require(try DeviceLinkPacket.read(from: &general))
            let wanted = try #require(DeviceLinkAcknowledgement(read))
            #expect((ack.messageID, ack.status) == (wanted.messageID, wanted.status))
            #expect(quick == general)
        }
    }
}
