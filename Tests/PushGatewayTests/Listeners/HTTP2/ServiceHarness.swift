import NIOCore
import NIOHPACK
import PushTesting
import PushWire

@testable import PushGateway

/// A frame as the client sees it.
struct ClientFrame: Equatable {
    var type: FrameType?
    var flags: FrameFlags
    var streamID: UInt32
    var content: [UInt8]

    /// Of RST_STREAM, GOAWAY and WINDOW_UPDATE: their 32-bit numbers.
    var words: [UInt32] {
        stride(from: 0, to: min(8, self.content.count) & ~3, by: 4).map { self.content.span.integer(at: $0) }
    }

    /// All frames in `bytes`.
    static func frames(_ bytes: [UInt8]) -> [Self] {
        var bytes = bytes
        var frames: [Self] = []
        while let head = FrameHeader(bytes.span, at: 0) {
            let end = min(bytes.count, FrameHeader.length + head.length)
            let content = Array(bytes[FrameHeader.length..<end])
            frames.append(
                Self(
                    type: FrameType(rawValue: head.type),
                    flags: head.flags,
                    streamID: head.streamID,
                    content: content
                )
            )
            bytes.removeFirst(end)
        }
        return frames
    }
}

/// A gateway's connection machine with a manual clock, and a client that the test plays.
struct ServiceHarness {
    var machine: HTTP2ServerStateMachine
    var now = NIODeadline.uptimeNanoseconds(1_000_000_000_000)
    /// All so far.
    var requests: [(stream: UInt32, request: ProviderRequest)] = []
    /// All so far.
    var cancelled: [UInt32] = []
    private var encoder = HPACKEncoder(allocator: ByteBufferAllocator())

    /// - Parameters:
    ///   - settings: the client's; `nil` for one that says nothing yet.
    ///   - confirms: whether the client has read our SETTINGS.
    init(
        limits: HTTP2ServerLimits = HTTP2ServerLimits(),
        settings: [(HTTP2Setting, UInt32)]? = [],
        confirms: Bool = true
    ) {
        self.machine = HTTP2ServerStateMachine(limits: limits, now: self.now)
        guard let settings else { return }
        self.receive { buffer in
            buffer.writeString(HTTP2Constants.preface)
            buffer.writeSettings(settings)
            if confirms { buffer.write(FrameHeader(length: 0, type: .settings, flags: .acknowledgement)) }
        }
        _ = self.frames()
    }

    // MARK: What the client does

    mutating func receive(_ bytes: [UInt8]) {
        self.machine.received(ByteBuffer(bytes: bytes), now: self.now)
        self.takeEvents()
    }

    mutating func receive(_ write: (inout ByteBuffer) -> Void) {
        var buffer = ByteBuffer()
        write(&buffer)
        self.receive(Array(buffer.readableBytesView))
    }

    /// A push, whole.
    mutating func request(_ streamID: UInt32, body: String = Vectors.payload) {
        self.headers(streamID, endStream: body.isEmpty)
        if !body.isEmpty { self.data(streamID, body) }
    }

    mutating func headers(
        _ streamID: UInt32,
        _ headers: [(String, String)] = Self.push,
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

    mutating func data(_ streamID: UInt32, _ text: String, endStream: Bool = true) {
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

    mutating func reset(_ streamID: UInt32, _ code: HTTP2ErrorCode = .cancel) {
        self.receive { $0.writeFrame(.resetStream, streamID: streamID, words: code.rawValue) }
    }

    mutating func confirmSettings() {
        self.receive { $0.write(FrameHeader(length: 0, type: .settings, flags: .acknowledgement)) }
    }

    /// Encoded by NIOHPACK, with its dynamic table.
    mutating func block(_ headers: [(String, String)]) -> [UInt8] {
        var buffer = ByteBuffer()
        try? self.encoder.encode(headers: HPACKHeaders(headers), to: &buffer)
        return Array(buffer.readableBytesView)
    }

    // MARK: What the gateway does

    mutating func answer(_ streamID: UInt32, _ answer: ProviderResponse = .accepted(apnsID: "ID")) {
        self.machine.answer(streamID, answer)
        self.takeEvents()
    }

    mutating func pass(_ time: TimeAmount) {
        self.now = self.now + time
        self.machine.tick(now: self.now)
        self.takeEvents()
    }

    private mutating func takeEvents() {
        var requests: [(stream: UInt32, request: ProviderRequest)] = []
        self.machine.takeRequests(&requests)
        self.requests += requests
        self.cancelled += self.machine.takeCancelled()
    }

    // MARK: What can be seen

    /// The frames written since the last call.
    mutating func frames() -> [ClientFrame] {
        let bytes = Array(self.machine.output.readableBytesView)
        self.machine.output.clear()
        return ClientFrame.frames(bytes)
    }

    /// Codes of the streams reset since the last look at the frames.
    mutating func resets() -> [UInt32: HTTP2ErrorCode] {
        self.frames().filter { $0.type == .resetStream }
            .reduce(into: [:]) { resets, frame in
                resets[frame.streamID] = frame.words.first.flatMap(HTTP2ErrorCode.init)
            }
    }

    var hasFinished: Bool { self.machine.phase == .finished }

    static let push = [
        (":method", "POST"), (":scheme", "https"), (":path", "/3/device/\(Vectors.tokenA)"),
        ("apns-topic", Vectors.bundleID), ("apns-push-type", "alert"),
    ]
}
