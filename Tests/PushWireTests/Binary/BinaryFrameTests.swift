import NIOCore
import PushTesting
import PushTypes
import PushWire
import Testing

/// The vectors of APNs reference 8.5 to 8.7 and the rules of 5.1 and 5.2.
@Suite struct BinaryFrameTests {
    static let payloadP = "7b22617073223a7b22616c657274223a224869227d7d"
    static let simple = "000020\(Vectors.tokenA)0016\(payloadP)"
    static let enhanced = "01000000016553ff100020\(Vectors.tokenA)0016\(payloadP)"
    static let framed = """
        020000004e010020302bd38cc16adf6c9383e8848b91d895afccb2a5a5d1d524\
        35f14c470aa717670200167b22617073223a7b22616c657274223a224869227d\
        7d030004010203040400046553ff100500010a
        """
    static let smallest = "020000003c010020\(Vectors.tokenA)020016\(payloadP)"

    static func vectors() throws -> [(hex: String, frame: BinaryFrame)] {
        let token = try #require(Hexadecimal.decode(Vectors.tokenA))
        let plain = BinaryNotification(token: token, payload: ByteBuffer(string: Vectors.payload))
        var second = plain
        (second.identifier, second.expiration) = (1, 1_700_003_600)
        var third = second
        (third.identifier, third.priority) = (0x0102_0304, .immediate)
        return [
            (Self.simple, BinaryFrame(command: .simple, notification: plain)),
            (Self.enhanced, BinaryFrame(command: .enhanced, notification: second)),
            (Self.framed, BinaryFrame(command: .framed, notification: third)),
            (Self.smallest, BinaryFrame(command: .framed, notification: plain)),
        ]
    }

    @Test func theVectorsAreReadAndWritten() throws {
        for (hex, frame) in try Self.vectors() {
            #expect(Hexadecimal.encode(frame.encoded.readableBytesView) == hex)
            #expect(try Self.read(hex) == frame)
            #expect(frame.validationError == nil)
        }
        #expect(try Self.vectors().map { $0.hex.utf8.count / 2 } == [59, 67, 83, 65])
    }

    @Test func everySplitOfAFrameGivesTheSameFrame() throws {
        for (hex, frame) in try Self.vectors() {
            let bytes = try #require(Hexadecimal.decode(hex))
            var received = ByteBuffer()
            for byte in bytes.dropLast() {
                received.writeInteger(byte)
                let early = try BinaryFrame.read(from: &received)
                #expect(early == nil)
            }
            #expect(received.readableBytes == bytes.count - 1, "nothing is taken before the end is there")
            received.writeInteger(try #require(bytes.last))
            let read = try BinaryFrame.read(from: &received)
            #expect(read == frame)
            #expect(received.readableBytes == 0)
        }
    }

    @Test func severalFramesInOneReadComeOutInOrder() throws {
        let vectors = try Self.vectors()
        var received = ByteBuffer(bytes: try #require(Hexadecimal.decode(vectors.map(\.hex).joined())))
        for (_, frame) in vectors {
            let read = try BinaryFrame.read(from: &received)
            #expect(read == frame)
        }
    }

    @Test(arguments: [
        // Reference 8.6.
        ("0100000002000000000004deadbeef0016\(payloadP)", "080500000002"),
        ("0100000003000000000020\(Vectors.tokenA)0000", "080400000003"),
        ("010000000400000000000000167b22617073223a7b22616c657274223a224869227d7d", "080200000004"),
        ("09", "088000000000"),
        // Reference 5.3.7: how a client tests a connection.
        ("0100000000000000000001aa0001aa", "080500000000"),
        // Rejected by their lengths, before the bytes are there.
        ("000065", "080500000000"), ("000020\(Vectors.tokenA)0101", "080700000000"),
        ("010000000700000000ffff", "080500000007"), ("0200002001", "088000000000"), ("02ffffffff", "088000000000"),
        // Command 2: empty, without token, without payload, sizes, the identifier known all the same.
        ("0200000000", "080200000000"), ("0200000019020016\(payloadP)", "080200000000"),
        ("020000002a010020\(Vectors.tokenA)03000400000009", "080400000009"),
        ("0200000024010001aa020016\(payloadP)03000400000009", "080500000009"),
        // Twice the same item; an item past the end of the frame; half an item.
        ("0200000008050001050500010a", "088000000000"), ("020000000e03000400000009050001050500010a", "088000000009"),
        ("0200000004010020aa", "088000000000"), ("02000000020100", "088000000000"),
        // An identifier, expiration or priority that is none.
        ("020000003f\(String(smallest.dropFirst(10)))030000", "088000000000"),
        ("020000003f\(String(smallest.dropFirst(10)))040000", "088000000000"),
        ("0200000040\(String(smallest.dropFirst(10)))05000101", "088000000000"),
        ("0200000040\(String(smallest.dropFirst(10)))05000107", "088000000000"),
    ])
    func aBadFrameGetsThePacketOfTheReference(hex: String, response: String) throws {
        var buffer = ByteBuffer(bytes: try #require(Hexadecimal.decode(hex)))
        do {
            let frame = try BinaryFrame.read(from: &buffer)
            Issue.record("read as \(String(describing: frame))")
        } catch {
            #expect(Hexadecimal.encode(error.encoded.readableBytesView) == response)
        }
    }

    @Test func itemsComeInAnyOrderAndUnknownOnesArePassedOver() throws {
        let shuffled = """
            0200000053 0500010a 0400046553ff10 090002beef 030004 01020304 020016 \(Self.payloadP) \
            010020 \(Vectors.tokenA)
            """
        #expect(try Self.read(shuffled.filter { $0 != " " }) == Self.read(Self.framed))
    }

    @Test(arguments: [(BinaryCommand.simple, 256), (.enhanced, 256), (.framed, 2048)])
    func aPayloadMayHaveItsFullLengthAndNotAByteMore(command: BinaryCommand, length: Int) throws {
        let token = [UInt8](repeating: 1, count: 100)
        func frame(_ count: Int) -> BinaryFrame {
            let payload = ByteBuffer(repeating: UInt8(ascii: "x"), count: count)
            return BinaryFrame(command: command, notification: BinaryNotification(token: token, payload: payload))
        }
        var full = frame(length).encoded
        let read = try BinaryFrame.read(from: &full)
        #expect(read?.notification == frame(length).notification.written(as: command))
        #expect(frame(length + 1).validationError == .invalidPayloadSize)
        var long = frame(length + 1).encoded
        #expect(throws: BinaryErrorResponse(status: .invalidPayloadSize)) { try BinaryFrame.read(from: &long) }
    }

    @Test func randomBytesAreReadOrRejectedButNeverCrash() {
        var generator = SystemRandomNumberGenerator()
        for round in 0..<4_000 {
            let random = (0..<96).map { _ in UInt8.random(in: 0...255, using: &generator) }
            // Most rounds start like a frame, so that its insides are reached at all.
            let start: [UInt8] =
                switch round % 4 {
                case 0: []
                case 1: [0, 0, 32]
                case 2: [1, 0, 0, 0, 1, 0, 0, 0, 0, 0, 33]
                default: [2, 0, 0, 0, 40, 3, 0, 4, 0, 0, 0, 1, random[0] % 6, 0, random[1] % 40]
                }
            var buffer = ByteBuffer(bytes: start + random)
            let before = buffer.readableBytes
            let frame = try? BinaryFrame.read(from: &buffer)
            #expect((frame ?? nil) == nil ? buffer.readableBytes == before : buffer.readableBytes < before)
        }
    }

    @Test func whatTheProviderInterfaceSaysIsTranslated() throws {
        var notification = PushNotification(
            id: "",
            topic: try #require(Topic(Vectors.bundleID)),
            priority: .low,
            expiration: .at(seconds: .max),
            payload: ByteBuffer(string: Vectors.payload)
        )
        let token = try #require(DeviceToken(hex: Vectors.tokenA))
        #expect(BinaryNotification(notification, to: token).priority == .powerAware)
        #expect(BinaryNotification(notification, to: token).expiration == .max)
        notification.expiration = .immediate
        #expect(BinaryNotification(notification, to: token).expiration == 0)
        notification.expiration = .servicePolicy
        #expect(BinaryNotification(notification, to: token).expiration == nil)
    }

    static func read(_ hex: String) throws -> BinaryFrame? {
        var buffer = ByteBuffer(bytes: try #require(Hexadecimal.decode(hex)))
        let frame = try BinaryFrame.read(from: &buffer)
        #expect(buffer.readableBytes == 0)
        return frame
    }
}

extension BinaryNotification {
    /// This notification as it comes out at the other end: command 1 always has an expiry.
    func written(as command: BinaryCommand) -> BinaryNotification {
        var copy = self
        if command == .enhanced { copy.expiration = copy.expiration ?? 0 }
        return copy
    }
}
