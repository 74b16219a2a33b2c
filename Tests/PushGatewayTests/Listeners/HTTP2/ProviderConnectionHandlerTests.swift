import Logging
import NIOCore
import NIOEmbedded
import NIOHPACK
import PushTesting
import PushTypes
import PushWire
import Synchronization
import Testing

@testable import PushGateway

/// Bytes in, bytes out: what the machine's handler adds to it.
@Suite(.timeLimit(.patience)) struct ProviderConnectionHandlerTests {
    @Test func theSettingsGoOutAtOnce() throws {
        let connection = try Connection()
        #expect(try connection.frames().map(\.type) == [.settings, .windowUpdate])
        #expect(try connection.writes() == 0)
    }

    @Test func theRequestsOfOneReadHaveTheirResponsesInOneWrite() throws {
        let connection = try Connection { $0.answersAtOnce = true }
        _ = try connection.frames()
        try connection.read { harness in
            for stream: UInt32 in [1, 3, 5] { harness.request(stream) }
        }
        #expect(connection.receiver.batches == [[1, 3, 5]])
        let output = try #require(try connection.channel.readOutbound(as: ByteBuffer.self))
        let frames = PeerFrame.frames(Array(output.readableBytesView))
        // With them went the confirmation of the client's settings.
        #expect(frames.map(\.type) == [.settings, .headers, .headers, .headers])
        #expect(try connection.writes() == 0)
    }

    @Test func laterResponsesAreWrittenTogether() throws {
        let connection = try Connection()
        try connection.read { harness in
            for number in 0..<100 { harness.request(UInt32(number) * 2 + 1) }
        }
        _ = try connection.frames()
        let handle = try #require(connection.receiver.handle)
        for number in 0..<50 { handle.respond(UInt32(number) * 2 + 1, .accepted(apnsID: "ID")) }
        handle.respond((50..<100).map { (UInt32($0) * 2 + 1, .accepted(apnsID: "ID")) })
        #expect(try connection.writes() == 0)
        connection.channel.embeddedEventLoop.run()
        let output = try #require(try connection.channel.readOutbound(as: ByteBuffer.self))
        #expect(PeerFrame.frames(Array(output.readableBytesView)).count == 100)
        #expect(try connection.writes() == 0)
    }

    @Test func responsesMayComeFromAnyThread() async throws {
        let receiver = RecordingReceiver()
        let channel = try await NIOAsyncTestingChannel { channel in
            try channel.pipeline.syncOperations.addHandler(Connection.handler(receiver, on: channel))
        }
        try await channel.connect(to: try SocketAddress(ipAddress: "127.0.0.1", port: 1)).get()
        let input = Connection.input { harness in
            for number in 0..<1000 { harness.request(UInt32(number) * 2 + 1) }
        }
        try await channel.writeInbound(input)
        let handle = try #require(receiver.handle)
        await withTaskGroup(of: Void.self) { group in
            for part in 0..<10 {
                group.addTask {
                    for number in 0..<100 {
                        handle.respond(UInt32(part * 100 + number) * 2 + 1, .accepted(apnsID: "ID"))
                    }
                }
            }
        }
        await channel.testingEventLoop.run()
        var streams: Set<UInt32> = []
        while let output = try await channel.readOutbound(as: ByteBuffer.self) {
            for frame in PeerFrame.frames(Array(output.readableBytesView)) where frame.type == .headers {
                #expect(streams.insert(frame.streamID).inserted)
            }
        }
        #expect(streams.count == 1000)
        try await channel.close()
    }

    @Test func limitsResetsAndGoAwayTakeEffectInOrder() throws {
        let connection = try Connection()
        try connection.read { harness in
            for stream: UInt32 in [1, 3, 5] { harness.request(stream) }
        }
        _ = try connection.frames()
        let handle = try #require(connection.receiver.handle)
        handle.announce(streamLimit: 7)
        handle.reset(3, .internalError)
        handle.goAway(.shutdown, lastStream: 1)
        handle.respond(1, .accepted(apnsID: "ID"))
        connection.channel.embeddedEventLoop.run()
        let frames = try connection.frames()
        #expect(frames.map(\.type) == [.settings, .resetStream, .goAway, .headers])
        #expect(String(decoding: frames[2].content.dropFirst(8), as: UTF8.self) == #"{"reason":"Shutdown"}"#)
        #expect(connection.isClosed)
        #expect(!connection.channel.isActive)
        handle.respond(5, .accepted(apnsID: "ID"))
        handle.close()
        connection.channel.embeddedEventLoop.run()
    }

    @Test func theReceiverMayEndTheConnectionInTheMiddleOfItsCall() throws {
        let connection = try Connection { receiver in
            receiver.whenReceived = { receiver, _ in
                receiver.handle?.respond([(1, .accepted(apnsID: "ID"))])
                receiver.handle?.goAway(.noError, debugData: "enough", lastStream: 1)
            }
        }
        _ = try connection.frames()
        try connection.read { harness in
            for stream: UInt32 in [1, 3] { harness.request(stream) }
        }
        #expect(try connection.frames().map(\.type) == [.settings, .headers, .goAway])
        #expect(connection.isClosed)
    }

    @Test func closingWithoutAWordWritesNothingMore() throws {
        let connection = try Connection()
        _ = try connection.frames()
        let handle = try #require(connection.receiver.handle)
        handle.close()
        connection.channel.embeddedEventLoop.run()
        #expect(try connection.writes() == 0)
        #expect(!connection.channel.isActive)
        #expect(connection.isClosed)
    }

    @Test func cancelledStreamsAreTold() throws {
        let connection = try Connection()
        try connection.read { harness in
            harness.request(1)
            harness.request(3)
            harness.reset(1)
        }
        #expect(connection.receiver.batches == [[1, 3]])
        #expect(connection.receiver.cancelledStreams == [1])
    }

    @Test func aRequestThatNeverEndsIsCancelledByTheTimer() throws {
        let connection = try Connection()
        try connection.read { $0.headers(1) }
        _ = try connection.frames()
        connection.channel.embeddedEventLoop.advanceTime(by: .seconds(29))
        #expect(try connection.writes() == 0)
        connection.channel.embeddedEventLoop.advanceTime(by: .seconds(1))
        #expect(try connection.frames().map(\.words) == [[HTTP2ErrorCode.cancel.rawValue]])
        #expect(connection.channel.isActive)
    }

    @Test func aSilentClientIsClosedByTheTimer() throws {
        let connection = try Connection()
        connection.channel.embeddedEventLoop.advanceTime(by: .seconds(10))
        #expect(!connection.channel.isActive)
    }

    @Test func quiescingDrains() throws {
        let connection = try Connection()
        try connection.read { $0.request(1) }
        _ = try connection.frames()
        connection.channel.pipeline.fireUserInboundEventTriggered(ChannelShouldQuiesceEvent())
        #expect(try connection.frames().map(\.type) == [.goAway, .ping])
        connection.channel.embeddedEventLoop.advanceTime(by: .seconds(1))
        connection.receiver.handle?.respond(1, .accepted(apnsID: "ID"))
        connection.channel.embeddedEventLoop.run()
        #expect(try connection.frames().map(\.type) == [.goAway, .headers])
        #expect(!connection.channel.isActive)
    }

    @Test func whatBreaksTheProtocolIsToldAndEndsTheConnection() throws {
        let connection = try Connection()
        _ = try connection.frames()
        try connection.channel.writeInbound(ByteBuffer(string: "what is this"))
        #expect(try connection.frames().map(\.type) == [.goAway])
        #expect(!connection.channel.isActive)
        #expect(connection.isClosed)
    }

    @Test func errorsOfTheTransportEndTheConnection() throws {
        let connection = try Connection()
        connection.channel.pipeline.fireErrorCaught(ChannelError.inputClosed)
        #expect(!connection.channel.isActive)
    }

    @Test func nothingIsReadFromAClientThatDoesNotRead() throws {
        let reads = ReadCounter()
        let connection = try Connection(below: reads) { $0.answersAtOnce = true }
        connection.channel.isWritable = false
        connection.channel.pipeline.fireChannelWritabilityChanged()
        try connection.read { $0.request(1) }
        connection.channel.read()
        #expect(reads.count == 0)
        _ = try connection.frames()
        #expect(try connection.writes() == 0, "the answer waits")
        connection.channel.isWritable = true
        connection.channel.pipeline.fireChannelWritabilityChanged()
        #expect(reads.count == 1)
        #expect(try connection.frames().map(\.type) == [.settings, .headers])
    }
}

/// Counts the reads that reach the transport.
private final class ReadCounter: ChannelOutboundHandler {
    typealias OutboundIn = ByteBuffer

    var count = 0

    func read(context: ChannelHandlerContext) {
        self.count += 1
        context.read()
    }
}

/// An embedded channel with a handler, and a client that a harness plays.
private struct Connection {
    let channel: EmbeddedChannel
    let receiver: RecordingReceiver

    init(below: (any ChannelHandler)? = nil, configure: (RecordingReceiver) -> Void = { _ in }) throws {
        self.receiver = RecordingReceiver()
        configure(self.receiver)
        self.channel = EmbeddedChannel()
        if let below { try self.channel.pipeline.syncOperations.addHandler(below) }
        try self.channel.pipeline.syncOperations.addHandler(Self.handler(self.receiver, on: self.channel))
        try self.channel.connect(to: SocketAddress(ipAddress: "127.0.0.1", port: 1)).wait()
    }

    static func handler(_ receiver: RecordingReceiver, on channel: any Channel) -> ProviderConnectionHandler<
        RecordingReceiver
    > {
        let now = channel.eventLoop.now
        return ProviderConnectionHandler(limits: .init(), now: now, logger: Logger(label: "test"), delegate: receiver)
    }

    var isClosed: Bool { self.receiver.handle?.isClosed == true }

    /// What a client sends from its preface on.
    static func input(_ write: (inout Client) -> Void) -> ByteBuffer {
        var client = Client()
        write(&client)
        return client.bytes
    }

    /// The first bytes of the client; once only.
    func read(_ write: (inout Client) -> Void) throws {
        try self.channel.writeInbound(Self.input(write))
    }

    func frames() throws -> [PeerFrame] {
        var bytes: [UInt8] = []
        while let output = try self.channel.readOutbound(as: ByteBuffer.self) { bytes += output.readableBytesView }
        return PeerFrame.frames(bytes)
    }

    /// Writes that nobody has looked at.
    func writes() throws -> Int {
        var count = 0
        while try self.channel.readOutbound(as: ByteBuffer.self) != nil { count += 1 }
        return count
    }
}

/// Makes the bytes of a client.
private struct Client {
    var bytes: ByteBuffer
    private var encoder = HPACKEncoder(allocator: ByteBufferAllocator())

    init() {
        self.bytes = ByteBuffer(string: HTTP2Constants.preface)
        self.bytes.writeSettings([])
        self.bytes.write(FrameHeader(length: 0, type: .settings, flags: .acknowledgement))
    }

    mutating func headers(_ streamID: UInt32) {
        var block = ByteBuffer()
        try? self.encoder.encode(headers: HPACKHeaders(Vectors.pushHeaders), to: &block)
        self.bytes.write(
            FrameHeader(length: block.readableBytes, type: .headers, flags: .endHeaders, streamID: streamID)
        )
        self.bytes.writeImmutableBuffer(block)
    }

    mutating func request(_ streamID: UInt32) {
        self.headers(streamID)
        let body = Vectors.payload
        self.bytes.write(FrameHeader(length: body.utf8.count, type: .data, flags: .endStream, streamID: streamID))
        self.bytes.writeString(body)
    }

    mutating func reset(_ streamID: UInt32) {
        self.bytes.writeFrame(.resetStream, streamID: streamID, words: HTTP2ErrorCode.cancel.rawValue)
    }
}

/// Notes what it is told, and answers at once where it shall.
private final class RecordingReceiver: ProviderRequestDelegate, Sendable {
    private struct State {
        var handle: ProviderConnectionProxy?
        var batches: [[UInt32]] = []
        var cancelled: [UInt32] = []
        var whenReceived: (@Sendable (RecordingReceiver, [UInt32]) -> Void)?
    }

    private let state = Mutex(State())

    var handle: ProviderConnectionProxy? {
        get { self.state.withLock { $0.handle } }
        set { self.state.withLock { $0.handle = newValue } }
    }
    var batches: [[UInt32]] { self.state.withLock { $0.batches } }
    var cancelledStreams: [UInt32] { self.state.withLock { $0.cancelled } }
    var whenReceived: (@Sendable (RecordingReceiver, [UInt32]) -> Void)? {
        get { self.state.withLock { $0.whenReceived } }
        set { self.state.withLock { $0.whenReceived = newValue } }
    }
    var answersAtOnce: Bool {
        get { self.whenReceived != nil }
        set {
            guard newValue else { return }
            self.whenReceived = { receiver, streams in
                receiver.handle?.respond(streams.map { ($0, .accepted(apnsID: "ID")) })
            }
        }
    }

    var isAuthenticated: Bool { false }

    func connectionOpened(_ handle: ProviderConnectionProxy) {
        self.handle = handle
    }

    func receive(_ events: [HTTP2ServerEvent]) {
        var streams: [UInt32] = []
        for event in events {
            switch event {
            case .request(let stream, _): streams.append(stream)
            case .cancelled(let stream): self.state.withLock { $0.cancelled.append(stream) }
            case .finished: break
            }
        }
        guard !streams.isEmpty else { return }
        self.state.withLock { $0.batches.append(streams) }
        self.whenReceived?(self, streams)
    }
}
