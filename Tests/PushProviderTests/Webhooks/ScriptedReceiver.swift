import Foundation
import NIOCore
import NIOHTTP1
import NIOPosix
import ProviderModel
import PushTesting
import Synchronization

/// A webhook's receiver on a free port, with scripted responses. It records the posts.
final class ScriptedReceiver: Sendable {
    struct Post: Sendable {
        var method: HTTPMethod
        var target: String
        var headers: HTTPHeaders
        var body: Data
    }

    enum Response: Sendable {
        case status(Int, headers: String = "")
        /// Any bytes, and the end of the connection.
        case bytes(String)
        /// These bytes, and no end.
        case unfinished(String)
    }

    private struct State {
        var posts: [Post] = []
        var answers: [Response] = []
        var connections = 0
        var channels: [any Channel] = []
        var onPost: (@Sendable (Post) -> Void)?
    }

    private let state = Mutex(State())

    var posts: [Post] { self.state.withLock { $0.posts } }
    var connections: Int { self.state.withLock { $0.connections } }

    /// The `n` of the events of every post, in order.
    var numbers: [[Int]] { self.posts.map { Self.numbers(in: $0.body) } }

    /// The next responses, one after the other. After them every post is accepted.
    func script(_ answers: Response...) {
        self.state.withLock { $0.answers += answers }
    }

    /// Called before each response.
    func onPost(_ action: @escaping @Sendable (Post) -> Void) {
        self.state.withLock { $0.onPost = action }
    }

    /// Ends every connection, also those that wait for a response.
    func disconnect() {
        for channel in self.state.withLock({ $0.channels }) { channel.close(promise: nil) }
    }

    /// Waits until there were so many posts.
    func waitForPosts(_ count: Int) async throws {
        try await eventually { self.posts.count >= count }
    }

    /// Listens while `body` runs.
    static func run<Value>(
        host: String = "127.0.0.1",
        _ body: (ScriptedReceiver, Int) async throws -> Value
    ) async throws -> Value {
        let receiver = ScriptedReceiver()
        let server = try await ServerBootstrap(group: .singletonMultiThreadedEventLoopGroup)
            .childChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    receiver.state.withLock {
                        $0.connections += 1
                        $0.channels.append(channel)
                    }
                    try channel.pipeline.syncOperations.addHandler(ByteToMessageHandler(HTTPRequestDecoder()))
                    try channel.pipeline.syncOperations.addHandler(Handler(receiver))
                }
            }
            .bind(host: host, port: 0).get()
        do {
            let value = try await body(receiver, server.localAddress?.port ?? 0)
            try await server.close()
            return value
        } catch {
            try? await server.close()
            throw error
        }
    }

    static func numbers(in body: Data) -> [Int] {
        guard let object = try? JSONSerialization.jsonObject(with: body) as? [String: Any],
            let events = object["events"] as? [[String: Any]]
        else { return [] }
        return events.compactMap { $0["n"] as? Int }
    }

    private func answer(to post: Post) -> Response {
        let (answer, action) = self.state.withLock { state in
            state.posts.append(post)
            let answer = state.answers.isEmpty ? Response.status(200) : state.answers.removeFirst()
            return (answer, state.onPost)
        }
        action?(post)
        return answer
    }

    private final class Handler: ChannelInboundHandler {
        typealias InboundIn = HTTPServerRequestPart
        typealias OutboundOut = ByteBuffer

        private let receiver: ScriptedReceiver
        private var head: HTTPRequestHead?
        private var body = Data()

        init(_ receiver: ScriptedReceiver) {
            self.receiver = receiver
        }

        func channelRead(context: ChannelHandlerContext, data: NIOAny) {
            switch self.unwrapInboundIn(data) {
            case .head(let head): (self.head, self.body) = (head, Data())
            case .body(let buffer): self.body.append(contentsOf: buffer.readableBytesView)
            case .end:
                guard let head else { return }
                let post = Post(method: head.method, target: head.uri, headers: head.headers, body: self.body)
                self.write(self.receiver.answer(to: post), context)
            }
        }

        private func write(_ answer: Response, _ context: ChannelHandlerContext) {
            switch answer {
            case .status(let status, let headers):
                let text = "HTTP/1.1 \(status) Status\r\ncontent-length: 2\r\n\(headers)\r\nok"
                context.writeAndFlush(self.wrapOutboundOut(ByteBuffer(string: text)), promise: nil)
            case .bytes(let text):
                context.writeAndFlush(self.wrapOutboundOut(ByteBuffer(string: text)), promise: nil)
                context.close(promise: nil)
            case .unfinished(let text):
                context.writeAndFlush(self.wrapOutboundOut(ByteBuffer(string: text)), promise: nil)
            }
        }
    }
}
