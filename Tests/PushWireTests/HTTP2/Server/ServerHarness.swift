import NIOCore
import NIOHPACK
import PushTesting

@testable import PushWire

/// A server's state machine with a manual clock, and a client that the test plays.
final class ServerHarness: HTTP2Harness {
    var stateMachine: HTTP2ServerStateMachine
    var now = ServerHarness.start
    private static let start = NIODeadline.uptimeNanoseconds(1_000_000_000_000)
    /// All requests so far.
    var requests: [(stream: UInt32, request: ProviderRequest)] = []
    /// All cancelled streams so far.
    var cancelled: [UInt32] = []
    private var end: HTTP2ConnectionEnd?
    private var encoder = HPACKEncoder(allocator: ByteBufferAllocator())

    /// - Parameters:
    ///   - settings: the client's settings, or `nil` for a client that has sent nothing.
    ///   - confirms: Is `true` if the client acknowledges the server's SETTINGS.
    init(
        limits: HTTP2ServerLimits = HTTP2ServerLimits(),
        settings: [(HTTP2Setting, UInt32)]? = [],
        confirms: Bool = true
    ) {
        self.stateMachine = HTTP2ServerStateMachine(limits: limits, now: Self.start)
        guard let settings else { return }
        self.receive { buffer in
            buffer.writeString(HTTP2Constants.preface)
            buffer.writeSettings(settings)
            if confirms { buffer.write(FrameHeader(length: 0, type: .settings, flags: .acknowledgement)) }
        }
        _ = self.frames()
    }

    // MARK: The client

    func receive(_ bytes: [UInt8]) {
        self.stateMachine.receive(ByteBuffer(bytes: bytes), now: self.now)
        self.takeEvents()
    }

    /// Sends a whole push.
    func request(_ streamID: UInt32, body: String = Vectors.payload) {
        self.headers(streamID, endStream: body.isEmpty)
        if !body.isEmpty { self.data(streamID, body) }
    }

    func headers(
        _ streamID: UInt32,
        _ headers: [(String, String)] = Vectors.pushHeaders,
        endStream: Bool = false
    ) {
        let block = self.block(headers)
        self.receive { buffer in
            buffer.write(
                FrameHeader(
                    length: block.count,
                    type: .headers,
                    flags: endStream ? [.endHeaders, .endStream] : .endHeaders,
                    streamID: streamID
                )
            )
            buffer.writeBytes(block)
        }
    }

    func data(_ streamID: UInt32, _ text: String, endStream: Bool = true) {
        self.receive { buffer in
            buffer.write(
                FrameHeader(
                    length: text.utf8.count,
                    type: .data,
                    flags: endStream ? .endStream : [],
                    streamID: streamID
                )
            )
            buffer.writeString(text)
        }
    }

    func reset(_ streamID: UInt32, _ code: HTTP2ErrorCode = .cancel) {
        self.receive { $0.writeFrame(.resetStream, streamID: streamID, words: code.rawValue) }
    }

    func confirmSettings() {
        self.receive { $0.write(FrameHeader(length: 0, type: .settings, flags: .acknowledgement)) }
    }

    /// Returns a header block encoded by NIOHPACK, with its dynamic table.
    func block(_ headers: [(String, String)]) -> [UInt8] {
        var buffer = ByteBuffer()
        try? self.encoder.encode(headers: HPACKHeaders(headers), to: &buffer)
        return Array(buffer.readableBytesView)
    }

    // MARK: The gateway

    func respond(_ streamID: UInt32, _ response: ProviderResponse = .accepted(apnsID: "ID")) {
        self.stateMachine.respond(streamID, response)
        self.takeEvents()
    }

    func pass(_ time: TimeAmount) {
        self.now = self.now + time
        self.stateMachine.tick(now: self.now)
        self.takeEvents()
    }

    func takeEvents() {
        var events: [HTTP2ServerEvent] = []
        self.stateMachine.takeEvents(&events)
        for event in events {
            switch event {
            case .request(let stream, let request): self.requests.append((stream, request))
            case .cancelled(let stream): self.cancelled.append(stream)
            case .finished(let end): self.end = end
            }
        }
    }

    // MARK: Results

    /// The frames written since the last call.
    func frames() -> [PeerFrame] {
        PeerFrame.frames(Array(self.stateMachine.takeOutput().readableBytesView))
    }

    /// The codes of the streams reset since the last call of ``frames()``.
    func resets() -> [UInt32: HTTP2ErrorCode] {
        self.frames().filter { $0.type == .resetStream }
            .reduce(into: [:]) { resets, frame in
                resets[frame.streamID] = frame.words.first.flatMap(HTTP2ErrorCode.init)
            }
    }

    var hasFinished: Bool { self.stateMachine.hasFinished }

    /// The reason for the end of the connection, or `nil` before.
    var ending: HTTP2ConnectionEnd? {
        self.takeEvents()
        return self.end
    }
}
