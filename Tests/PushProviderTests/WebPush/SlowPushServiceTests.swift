import Foundation
import NIOCore
import NIOPosix
import PushSender
import PushSupport
import PushTesting
import PushTypes
import PushWire
import Synchronization
import Testing

@testable import PushProvider

/// Push services of browsers that answer a byte at a time, without end or with too much.
@Suite(.timeLimit(.patience)) struct SlowPushServiceTests {
    /// A response whose head has come counts, whatever becomes of its body.
    @Test(arguments: [201, 500], ["x", String(repeating: "x", count: 65_536)])
    func aBodyWithoutEndEndsTheMessageAllTheSame(status: Int, piece: String) async throws {
        let head = "HTTP/1.1 \(status) Status\r\nconnection: close\r\n\r\n"
        try await Self.run(.init(head: head, piece: piece)) { fixture in
            let outcome = try await fixture.send(app: 1, "/slow")
            #expect(Self.kind(outcome) == (status == 201 ? "accepted" : "rejected"))
        }
    }

    /// A head that has more fields than a client reads, and one field without end.
    @Test(arguments: ["a: b\r\n", String(repeating: "x", count: 4096)])
    func aHeadThatIsTooLargeLeavesTheOutcomeOpen(piece: String) async throws {
        try await Self.run(.init(head: "HTTP/1.1 201 Created\r\nx: ", piece: piece)) { fixture in
            let outcome = try await fixture.send(app: 1, "/slow")
            #expect(Self.kind(outcome) == "unknown")
        }
    }

    @Test func aHeadThatDripsIsGivenUp() async throws {
        try await withGrowingLimit { limit in
            var limits = WebPushLimits.patient
            limits.deadline = limit
            return try await Self.run(.init(head: "HTTP/1.1 201 Created\r\nx: ", piece: "x"), limits: limits) {
                fixture in
                let outcome = try await fixture.send(app: 1, "/slow")
                guard !fixture.service.paths.isEmpty else { return false }
                #expect(Self.kind(outcome) == "unknown")
                return true
            }
        }
    }

    /// One app has all its places at the push service in use, which never answers. Another one sends to the same service.
    @Test func anAppThatWaitsForASlowServiceHoldsUpNoOther() async throws {
        var limits = WebPushLimits.patient
        (limits.inFlight, limits.servicesOfApp, limits.services) = (1, 1, 2)
        try await Self.run(.init(head: "HTTP/1.1 201 Created\r\nx: ", piece: "x"), limits: limits) { fixture in
            try await withThrowingTaskGroup(of: Void.self) { group in
                for _ in 0..<3 { group.addTask { _ = try await fixture.send(app: 1, "/slow") } }
                try await eventually { !fixture.service.paths.isEmpty }
                for _ in 0..<3 {
                    let outcome = try await fixture.send(app: 2, "/quick")
                    #expect(Self.kind(outcome) == "accepted")
                }
                #expect(fixture.service.paths.count { $0 == "/slow" } == 1)
                group.cancelAll()
            }
        }
    }

    private static func kind(_ outcome: Outcome) -> String {
        switch outcome {
        case .accepted: "accepted"
        case .rejected: "rejected"
        case .notSent: "not sent"
        case .unknown: "unknown"
        }
    }

    // MARK: - What the tests need

    private struct Fixture: Sendable {
        let service: DrippingService
        let senders: WebPushSenderFactory
        let subscriptions: FixedSubscriptions

        /// Sends a message of an app to a path of the service.
        func send(app: Int64, _ path: String) async throws -> Outcome {
            let token = try self.subscriptions.add(Browser(at: "http://127.0.0.1:\(self.service.port)\(path)"))
            let topic = try #require(Topic(Vectors.bundleID))
            let push = Push(PushNotification(id: "an-id", topic: topic, payload: "{}"), to: token)
            let sender = try #require(self.senders.senders(app: app).usable[.production])
            return try #require(await sender.send([push]).first)
        }
    }

    private static func run<Value>(
        _ response: DrippingService.Response,
        limits: WebPushLimits = .patient,
        _ body: (Fixture) async throws -> Value
    ) async throws -> Value {
        let service = try await DrippingService(response)
        let subscriptions = FixedSubscriptions()
        let senders = WebPushSenderFactory(
            store: subscriptions,
            addresses: AddressPolicy(allowsPrivate: true),
            resolver: SystemResolver(BudgetRegistry()),
            limits: limits,
            time: ManualTime()
        )
        let fixture = Fixture(service: service, senders: senders, subscriptions: subscriptions)
        let result: Result<Value, any Error>
        do { result = .success(try await body(fixture)) } catch { result = .failure(error) }
        await senders.close()
        try await service.close()
        return try result.get()
    }
}

/// A server that answers requests for `/slow` with the beginning of a response and a piece again and again, and others with 201.
private final class DrippingService: Sendable {
    struct Response: Sendable {
        var head: String
        var piece: String
    }

    /// What the connections have in common.
    private final class Shared: Sendable {
        let connections = Mutex<[any Channel]>([])
        let requests = Mutex<[String]>([])
    }

    private let server: any Channel
    private let shared: Shared

    var port: Int { self.server.localAddress?.port ?? 0 }
    /// The paths of the requests up to now.
    var paths: [String] { self.shared.requests.withLock { $0 } }

    init(_ response: Response) async throws {
        let shared = Shared()
        self.server = try await ServerBootstrap(group: .singletonMultiThreadedEventLoopGroup)
            .childChannelInitializer { channel in
                shared.connections.withLock { $0.append(channel) }
                return channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.addHandler(
                        Handler(response) { path in
                            shared.requests.withLock { $0.append(path) }
                        }
                    )
                }
            }
            .bind(host: "127.0.0.1", port: 0).get()
        self.shared = shared
    }

    func close() async throws {
        try await self.server.close()
        for channel in self.shared.connections.withLock({ $0 }) { try? await channel.close() }
    }

    private final class Handler: ChannelInboundHandler {
        typealias InboundIn = ByteBuffer
        typealias OutboundOut = ByteBuffer

        private let response: Response
        private let note: (String) -> Void
        private var received = ""

        init(_ response: Response, note: @escaping (String) -> Void) { (self.response, self.note) = (response, note) }

        func channelRead(context: ChannelHandlerContext, data: NIOAny) {
            self.received += String(decoding: Self.unwrapInboundIn(data).readableBytesView, as: UTF8.self)
            guard let path = Self.path(of: self.received) else { return }
            self.received = ""
            self.note(path)
            guard path == "/slow" else {
                let answer = "HTTP/1.1 201 Created\r\nconnection: close\r\ncontent-length: 0\r\n\r\n"
                return context.writeAndFlush(Self.wrapOutboundOut(ByteBuffer(string: answer)), promise: nil)
            }
            context.write(Self.wrapOutboundOut(ByteBuffer(string: self.response.head)), promise: nil)
            Self.drip(ByteBuffer(string: self.response.piece), to: context.channel)
        }

        /// The path of a request whose body has begun.
        private static func path(of request: String) -> String? {
            guard request.contains("\r\n\r\n") else { return nil }
            return request.split(separator: " ").dropFirst().first.map(String.init)
        }

        /// Writes a piece, and the next one once the client has had its turn.
        private static func drip(_ piece: ByteBuffer, to channel: any Channel) {
            channel.writeAndFlush(piece).whenSuccess {
                channel.eventLoop.scheduleTask(in: .milliseconds(1)) { Self.drip(piece, to: channel) }
            }
        }
    }
}
