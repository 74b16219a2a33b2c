import NIOCore
import NIOHPACK
import PushTesting
import PushTypes
import PushWire

@testable import PushSender

/// A frame as the peer sees it.
struct PeerFrame: Equatable {
    var type: FrameType?
    var flags: FrameFlags
    var streamID: UInt32
    var content: [UInt8]

    static func == (left: Self, right: Self) -> Bool {
        left.type == right.type && left.flags == right.flags && left.streamID == right.streamID
            && left.content == right.content
    }
}

/// A connection machine with a manual clock, and a push service that the test plays.
struct MachineHarness {
    var machine: HTTP2ClientStateMachine<Int>
    var now = NIODeadline.uptimeNanoseconds(1_000_000_000_000)
    /// All events so far.
    var events: [HTTP2ClientEvent<Int>] = []
    private var encoder = HPACKEncoder(allocator: ByteBufferAllocator())
    private var nextTicket = 0

    init(limits: HTTP2ClientLimits = HTTP2ClientLimits(), settings: [(HTTP2Setting, UInt32)]? = []) {
        self.machine = HTTP2ClientStateMachine(authority: "localhost:2197", limits: limits, now: self.now)
        self.machine.setProviderToken("a.b.c")
        if let settings {
            self.receive { $0.writeSettings(settings) }
            _ = self.frames()
        }
    }

    // MARK: What the sender does

    /// Starts as many of `count` pushes as the machine takes; their tickets count from 0.
    mutating func send(_ count: Int = 1, payload: String = Vectors.payload) {
        for _ in 0..<count where self.machine.freeStreams > 0 {
            self.machine.send(Self.push(payload: payload), ticket: self.nextTicket, now: self.now)
            self.nextTicket += 1
        }
        self.machine.takeEvents(&self.events)
    }

    /// - Parameter standingStill: whether there was no tick meanwhile.
    mutating func pass(_ time: TimeAmount, standingStill: Bool = false) {
        self.now = self.now + time
        if !standingStill, time >= HTTP2ClientStateMachine<Int>.standstill { self.machine.tick(now: self.now) }
        self.machine.tick(now: self.now)
        self.machine.takeEvents(&self.events)
    }

    // MARK: What the push service does

    mutating func receive(_ bytes: [UInt8]) {
        self.machine.receive(ByteBuffer(bytes: bytes), now: self.now)
        self.machine.takeEvents(&self.events)
    }

    mutating func receive(_ write: (inout ByteBuffer) -> Void) {
        var buffer = ByteBuffer()
        write(&buffer)
        self.receive(Array(buffer.readableBytesView))
    }

    mutating func settings(_ settings: [(HTTP2Setting, UInt32)]) {
        self.receive { $0.writeSettings(settings) }
    }

    mutating func reset(_ streamID: UInt32, _ code: UInt32) {
        self.receive { $0.writeFrame(.resetStream, streamID: streamID, words: code) }
    }

    mutating func goAway(last: UInt32, code: UInt32 = 0, debugData: String = "") {
        self.receive { buffer in
            buffer.write(FrameHeader(length: 8 + debugData.utf8.count, type: .goAway))
            buffer.writeMultipleIntegers(last, code)
            buffer.writeString(debugData)
        }
    }

    mutating func reply(_ streamID: UInt32, status: Int = 200, headers: [(String, String)] = [], body: String? = nil) {
        self.receive(self.replyBytes(streamID, status: status, headers: headers, body: body))
    }

    /// HEADERS, and DATA where there is a body.
    mutating func replyBytes(
        _ streamID: UInt32,
        status: Int = 200,
        headers: [(String, String)] = [],
        body: String? = nil
    ) -> [UInt8] {
        var buffer = ByteBuffer()
        let block = self.block([(":status", "\(status)")] + headers)
        buffer.write(
            FrameHeader(
                length: block.count,
                type: .headers,
                flags: body == nil ? [.endHeaders, .endStream] : .endHeaders,
                streamID: streamID
            )
        )
        buffer.writeBytes(block)
        if let body {
            buffer.write(FrameHeader(length: body.utf8.count, type: .data, flags: .endStream, streamID: streamID))
            buffer.writeString(body)
        }
        return Array(buffer.readableBytesView)
    }

    /// Encoded by NIOHPACK, with its dynamic table.
    mutating func block(_ headers: [(String, String)]) -> [UInt8] {
        var buffer = ByteBuffer()
        try? self.encoder.encode(headers: HPACKHeaders(headers), to: &buffer)
        return Array(buffer.readableBytesView)
    }

    // MARK: What can be seen

    /// The frames written since the last call; the preface is left out.
    mutating func frames() -> [PeerFrame] {
        var bytes = Array(self.machine.output.readableBytesView)
        self.machine.output.clear()
        let preface = Array("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".utf8)
        if bytes.starts(with: preface) { bytes.removeFirst(preface.count) }
        var frames: [PeerFrame] = []
        while let head = FrameHeader(bytes.span, at: 0) {
            let end = min(bytes.count, FrameHeader.length + head.length)
            frames.append(
                PeerFrame(
                    type: FrameType(rawValue: head.type),
                    flags: head.flags,
                    streamID: head.streamID,
                    content: Array(bytes[FrameHeader.length..<end])
                )
            )
            bytes.removeFirst(end)
        }
        return frames
    }

    /// One word per push that has ended, by ticket.
    var endings: [Int: String] {
        var endings: [Int: String] = [:]
        for event in self.events {
            switch event {
            case .replied(let ticket, let reply): endings[ticket] = "replied \(reply.head.status)"
            case .notProcessed(let ticket, _): endings[ticket] = "not processed"
            case .lost(let ticket, _): endings[ticket] = "lost"
            case .ready, .draining, .finished: break
            }
        }
        return endings
    }

    /// How often each push has ended.
    var endingCounts: [Int: Int] {
        self.events.reduce(into: [:]) { counts, event in
            switch event {
            case .replied(let ticket, _), .notProcessed(let ticket, _), .lost(let ticket, _):
                counts[ticket, default: 0] += 1
            case .ready, .draining, .finished: break
            }
        }
    }

    /// `nil` while the connection lives; the inner value is `nil` after an orderly end.
    var ending: RequestFailure?? {
        for case .finished(let cause) in self.events { return .some(cause) }
        return nil
    }

    static func push(
        id: String = "eabeae54-14a8-11e5-b60b-1697f925ec7b",
        topic: String = Vectors.bundleID,
        expiration: Expiration = .immediate,
        collapseID: String? = nil,
        payload: String = Vectors.payload,
        token: String = Vectors.tokenA
    ) -> Push {
        guard let topic = Topic(topic), let token = DeviceToken(hex: token) else {
            preconditionFailure("the vectors are valid")
        }
        return Push(
            PushNotification(
                id: id,
                topic: topic,
                expiration: expiration,
                collapseID: collapseID,
                payload: ByteBuffer(string: payload)
            ),
            to: token
        )
    }
}
