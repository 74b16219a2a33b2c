import NIOCore
import PushTesting
import PushTypes
import Testing

@testable import PushSender
@testable import PushWire

/// Push services that answer every PING and open no window, or no stream.
@Suite(.timeLimit(.patience)) struct ZeroWindowTests {
    private static let closed = ScriptedService.Act.settings([(.initialWindowSize, 0)])

    /// Ten minutes at the state machine, with a PING and its acknowledgement each time that nothing came.
    @Test func tenMinutesOfZeroWindowsEndEveryPushAndLeaveNothing() {
        let service = PatientService(settings: [(.initialWindowSize, 0)])
        for _ in 0..<600 {
            service.send()
            service.pass(1)
        }
        #expect(service.notProcessed == Array(0...570))
        #expect(service.stateMachine.openStreams == 29)
        service.pass(29)
        #expect(service.stateMachine.openStreams == 0)
        #expect(service.stateMachine.phase == .open, "the owner decides about the connection")
    }

    /// The first connection has no window from the start, or none any more after its first response.
    @Test(arguments: [false, true]) func aConnectionWithoutAWindowIsReplaced(isConfirmed: Bool) async throws {
        let script: ScriptedService.Script = { connection, event in
            switch event {
            case .opened: connection > 0 || isConfirmed ? ScriptedService.greeting : [Self.closed]
            case .request: connection > 0 ? [.reply()] : [Self.closed, .reply()]
            }
        }
        try await withGrowingLimit { limit in
            try await withSender(script: script, configure: { $0.responseTimeout = limit }) { sender, service in
                if isConfirmed {
                    guard await sender.send(makePushes(1)[0]).kind == "accepted" else { return false }
                }
                // It waits for a window on the first connection, and goes to the next one.
                let outcome = await sender.send(makePushes(2)[1])
                #expect(service.connections > 1)
                return outcome.kind == "accepted"
            }
        }
    }

    /// The service takes no request at all, or no body. Each call ends, and the next connection has another chance.
    @Test(
        arguments: [[(HTTP2Setting.maximumConcurrentStreams, UInt32(0))], [(.initialWindowSize, 0)]]
            as [[(HTTP2Setting, UInt32)]]
    )
    func aChannelServiceThatLetsNothingBeginIsGivenUp(settings: [(HTTP2Setting, UInt32)]) async throws {
        let service = try await ScriptedService.start { _, event in
            if case .opened = event { [.settings(settings)] } else { [] }
        }
        var configuration = SenderConfiguration.patient
        configuration.responseTimeout = .milliseconds(300)
        let channels = try ChannelService(
            to: service.endpoint,
            credential: .token(try ProviderTokenSignerTests.key()),
            configuration: configuration,
            logger: silentLogger
        )
        let app = try #require(Topic(Vectors.bundleID))
        let error = await #expect(throws: ChannelServiceError.self) {
            try await channels.createChannel(storing: .none, for: app)
        }
        if case .notSent? = error {} else { Issue.record("\(String(describing: error))") }
        #expect(service.requests.isEmpty)
        #expect(service.connections == 3, "each try has a connection of its own")
        await channels.close()
        await service.stop()
    }
}

/// A state machine of a client, whose push service acknowledges its PINGs at once.
private final class PatientService {
    private(set) var stateMachine: HTTP2ClientStateMachine
    /// The tickets of the pushes that were not processed, in their order.
    private(set) var notProcessed: [Int] = []
    private var now = PatientService.start
    private static let start = NIODeadline.uptimeNanoseconds(1_000_000_000_000)
    private var count = 0

    init(settings: [(HTTP2Setting, UInt32)]) {
        self.stateMachine = HTTP2ClientStateMachine(
            authority: "localhost:2197",
            limits: HTTP2ClientLimits(),
            now: Self.start
        )
        self.stateMachine.setProviderToken("a.b.c")
        self.receive { $0.writeSettings(settings) }
    }

    func send() {
        self.stateMachine.send(Vectors.push(), ticket: self.count, now: self.now)
        self.count += 1
    }

    /// Lets so many seconds pass.
    func pass(_ seconds: Int) {
        for _ in 0..<seconds {
            self.now = self.now + .seconds(1)
            self.stateMachine.tick(now: self.now)
            for frame in PeerFrame.frames(Array(self.stateMachine.takeOutput().readableBytesView)) {
                guard frame.type == .ping, !frame.flags.contains(.acknowledgement) else { continue }
                self.receive { buffer in
                    buffer.write(FrameHeader(length: 8, type: .ping, flags: .acknowledgement))
                    buffer.writeBytes(frame.content)
                }
            }
            var events: [HTTP2ClientEvent] = []
            self.stateMachine.takeEvents(&events)
            for case .notProcessed(let ticket, _) in events { self.notProcessed.append(ticket) }
        }
    }

    private func receive(_ write: (inout ByteBuffer) -> Void) {
        var buffer = ByteBuffer()
        write(&buffer)
        self.stateMachine.receive(buffer, now: self.now)
    }
}
