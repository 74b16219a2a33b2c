import NIOCore
import NIOHPACK
import PushTesting
import PushTypes

@testable import PushWire

/// A client's state machine with a manual clock, and a push service that the test plays.
final class ClientHarness: HTTP2Harness {
    var stateMachine: HTTP2ClientStateMachine
    var now = ClientHarness.start
    private static let start = NIODeadline.uptimeNanoseconds(1_000_000_000_000)
    /// All events so far.
    var events: [HTTP2ClientEvent] = []
    private var encoder = HPACKEncoder(allocator: ByteBufferAllocator())
    private var nextTicket = 0

    init(limits: HTTP2ClientLimits = HTTP2ClientLimits(), settings: [(HTTP2Setting, UInt32)]? = []) {
        self.stateMachine = HTTP2ClientStateMachine(authority: "localhost:2197", limits: limits, now: Self.start)
        self.stateMachine.setProviderToken("a.b.c")
        if let settings {
            self.receive { $0.writeSettings(settings) }
            _ = self.frames()
        }
    }

    /// - Parameter change: changes the default limits.
    convenience init(change: (inout HTTP2ClientLimits) -> Void) {
        var limits = HTTP2ClientLimits()
        change(&limits)
        self.init(limits: limits)
    }

    // MARK: The sender

    /// Starts as many of `count` pushes as there are free streams. Their tickets count from 0.
    func send(_ count: Int = 1, payload: String = Vectors.payload) {
        for _ in 0..<count where self.stateMachine.freeStreams > 0 {
            self.stateMachine.send(Vectors.push(payload: payload), ticket: self.nextTicket, now: self.now)
            self.nextTicket += 1
        }
        self.takeEvents()
    }

    /// - Parameter standingStill: Is `true` for a process that did not run meanwhile, so that there was no tick.
    func pass(_ time: TimeAmount, standingStill: Bool = false) {
        self.now = self.now + time
        if !standingStill, time >= HTTP2ClientStateMachine.standstill { self.stateMachine.tick(now: self.now) }
        self.stateMachine.tick(now: self.now)
        self.takeEvents()
    }

    func takeEvents() {
        var taken: [HTTP2ClientEvent] = []
        self.stateMachine.takeEvents(&taken)
        self.events += taken
    }

    // MARK: The push service

    func receive(_ bytes: [UInt8]) {
        self.stateMachine.receive(ByteBuffer(bytes: bytes), now: self.now)
        self.takeEvents()
    }

    func settings(_ settings: [(HTTP2Setting, UInt32)]) {
        self.receive { $0.writeSettings(settings) }
    }

    func reset(_ streamID: UInt32, _ code: UInt32) {
        self.receive { $0.writeFrame(.resetStream, streamID: streamID, words: code) }
    }

    func goAway(last: UInt32, code: UInt32 = 0, debugData: String = "") {
        self.receive { buffer in
            buffer.write(FrameHeader(length: 8 + debugData.utf8.count, type: .goAway))
            buffer.writeMultipleIntegers(last, code)
            buffer.writeString(debugData)
        }
    }

    func respond(_ streamID: UInt32, status: Int = 200, headers: [(String, String)] = [], body: String? = nil) {
        self.receive(self.responseBytes(streamID, status: status, headers: headers, body: body))
    }

    /// Returns a HEADERS frame, and a DATA frame if there is a body.
    func responseBytes(
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

    /// Returns a header block encoded by NIOHPACK, with its dynamic table.
    func block(_ headers: [(String, String)]) -> [UInt8] {
        var buffer = ByteBuffer()
        try? self.encoder.encode(headers: HPACKHeaders(headers), to: &buffer)
        return Array(buffer.readableBytesView)
    }

    // MARK: Results

    /// The frames written since the last call, without the preface.
    func frames() -> [PeerFrame] {
        PeerFrame.frames(Array(self.stateMachine.takeOutput().readableBytesView))
    }

    /// One word per push that has ended, by ticket.
    var endings: [Int: String] {
        var endings: [Int: String] = [:]
        for event in self.events {
            switch event {
            case .response(let ticket, let response): endings[ticket] = "response \(response.head.status)"
            case .notProcessed(let ticket, _): endings[ticket] = "not processed"
            case .lost(let ticket, _): endings[ticket] = "lost"
            case .ready, .draining, .finished: break
            }
        }
        return endings
    }

    /// The number of ends of each push.
    var endingCounts: [Int: Int] {
        self.events.reduce(into: [:]) { counts, event in
            switch event {
            case .response(let ticket, _), .notProcessed(let ticket, _), .lost(let ticket, _):
                counts[ticket, default: 0] += 1
            case .ready, .draining, .finished: break
            }
        }
    }

    /// The end of the connection, or `nil` before. The inner value is `nil` after an orderly end.
    var ending: HTTP2RequestFailure?? {
        for case .finished(let cause) in self.events { return .some(cause) }
        return nil
    }
}
