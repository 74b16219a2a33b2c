import NIOCore
import NIOPosix
import NIOSSL

@testable import PushBridges

/// An XMPP server as far as a component sees it: accepts connections on a free loopback port.
struct TestComponentServer: Sendable {
    let port: Int
    private let links: AsyncStream<TestComponentLink>

    /// Returns the next connection, as it is before anything was said; `nil` once cancelled.
    func next() async -> TestComponentLink? {
        var links = self.links.makeAsyncIterator()
        return await links.next()
    }

    /// Returns the next connection, after the component has proven the secret.
    func accept(secret: String = "secret") async throws -> TestComponentLink {
        guard let link = await self.next() else { throw CancellationError() }
        try await link.accept(secret: secret)
        return link
    }

    /// Runs a server for the duration of `body`.
    static func run<Value: Sendable>(
        tls: TLSConfiguration? = nil,
        _ body: @Sendable (TestComponentServer) async throws -> Value
    ) async throws -> Value {
        let (links, continuation) = AsyncStream.makeStream(of: TestComponentLink.self)
        let context = try tls.map { try NIOSSLContext(configuration: $0) }
        let channel = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .childChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    let pipeline = channel.pipeline.syncOperations
                    if let context { try pipeline.addHandler(NIOSSLServerHandler(context: context)) }
                    let (events, continuationOfEvents) = AsyncStream.makeStream(of: XMPPStreamEvent.self)
                    try pipeline.addHandler(EventReader(continuationOfEvents))
                    continuation.yield(TestComponentLink(channel: channel, events: events))
                }
            }
            .bind(host: "127.0.0.1", port: 0)
            .get()
        let server = TestComponentServer(port: channel.localAddress?.port ?? 0, links: links)
        do {
            let value = try await body(server)
            try? await channel.close()
            return value
        } catch {
            try? await channel.close()
            throw error
        }
    }
}

/// A connection of a component.
struct TestComponentLink: Sendable {
    let channel: any Channel
    let events: AsyncStream<XMPPStreamEvent>

    func send(_ text: String) { self.channel.writeAndFlush(ByteBuffer(string: text), promise: nil) }

    func close() async { try? await self.channel.close() }

    /// Returns the next event; `nil` after the end of the connection.
    func next() async -> XMPPStreamEvent? {
        var events = self.events.makeAsyncIterator()
        return await events.next()
    }

    /// Returns the next stanza.
    func stanza() async throws -> XMLElement {
        guard case .stanza(let stanza)? = await self.next() else { throw CancellationError() }
        return stanza
    }

    fileprivate func accept(secret: String) async throws {
        guard case .streamStart(let header)? = await self.next(), let name = header["to"] else {
            throw CancellationError()
        }
        let opening = XMPPStream.opening(
            content: ComponentNamespace.accept,
            attributes: ["from": name, "id": "stream-1"]
        )
        self.send(opening)
        let proof = try await self.stanza()
        guard proof.text == ComponentHandshake.proof(stream: "stream-1", secret: secret) else {
            self.send(XMPPStreamError(.notAuthorized).element.xml(in: ComponentNamespace.accept) + XMPPStream.closing)
            throw CancellationError()
        }
        self.send("<handshake/>")
    }
}

/// Reads what a component says.
private final class EventReader: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer

    private var parser = XMPPStreamParser()
    private let events: AsyncStream<XMPPStreamEvent>.Continuation

    init(_ events: AsyncStream<XMPPStreamEvent>.Continuation) { self.events = events }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        do {
            try self.parser.receive(Self.unwrapInboundIn(data).readableBytesView)
            while let event = try self.parser.next() { self.events.yield(event) }
        } catch {
            context.close(promise: nil)
        }
    }

    func channelInactive(context: ChannelHandlerContext) { self.events.finish() }

    func errorCaught(context: ChannelHandlerContext, error: any Error) { context.close(promise: nil) }
}
