import Foundation
import NIOCore
package import NIOHTTP1
import NIOPosix
package import PushSupport
import PushTypes
import PushWire
import Synchronization

/// A browsers' push service on a free port of this computer. It keeps what is posted, and answers as told.
package final class BrowserPushService: Sendable {
    package struct Post: Sendable {
        package var method: String
        package var path: String
        package var headers: HTTPHeaders
        package var body: [UInt8]
    }

    /// An answer to a request.
    package struct Answer: Sendable {
        package var status: Int
        package var headers: [(String, String)] = []
        package var body = ""
        /// `false` leaves the request without an answer.
        package var isGiven = true

        package init(_ status: Int, headers: [(String, String)] = [], body: String = "") {
            (self.status, self.headers, self.body) = (status, headers, body)
        }

        package static var silence: Answer {
            var answer = Answer(0)
            answer.isGiven = false
            return answer
        }
    }

    private struct State {
        var posts: [Post] = []
        var answers: [String: [Answer]] = [:]
    }

    private let state = Mutex(State())
    private let portNumber = Mutex(0)

    package var port: Int { self.portNumber.withLock { $0 } }
    package var posts: [Post] { self.state.withLock { $0.posts } }

    /// The URL of a path.
    package func url(_ path: String) -> String { "http://127.0.0.1:\(self.port)\(path)" }

    /// Sets the next answers to requests for a path, one after the other; the others are 201.
    package func script(_ path: String, _ answers: Answer...) {
        self.state.withLock { $0.answers[path, default: []] += answers }
    }

    /// Waits until there were so many requests.
    package func waitForPosts(_ count: Int) async throws {
        try await eventually { self.posts.count >= count }
    }

    /// Listens while `body` runs.
    package static func run<Value>(_ body: (BrowserPushService) async throws -> Value) async throws -> Value {
        let service = BrowserPushService()
        return try await ServerBootstrap(group: .singletonMultiThreadedEventLoopGroup)
            .childChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.configureHTTPServerPipeline()
                    try channel.pipeline.syncOperations.addHandler(Handler(service))
                }
            }
            .run { port in
                service.portNumber.withLock { $0 = port }
                return try await body(service)
            }
    }

    private func answer(_ post: Post) -> Answer {
        self.state.withLock { state in
            state.posts.append(post)
            guard let next = state.answers[post.path]?.first else { return Answer(201) }
            state.answers[post.path]?.removeFirst()
            return next
        }
    }

    private final class Handler: ChannelInboundHandler {
        typealias InboundIn = HTTPServerRequestPart
        typealias OutboundOut = HTTPServerResponsePart

        private let service: BrowserPushService
        private var head: HTTPRequestHead?
        private var body: [UInt8] = []

        init(_ service: BrowserPushService) { self.service = service }

        func channelRead(context: ChannelHandlerContext, data: NIOAny) {
            switch Self.unwrapInboundIn(data) {
            case .head(let head): (self.head, self.body) = (head, [])
            case .body(let buffer): self.body += buffer.readableBytesView
            case .end:
                guard let head else { return }
                let post = Post(method: head.method.rawValue, path: head.uri, headers: head.headers, body: self.body)
                self.write(self.service.answer(post), context)
            }
        }

        private func write(_ answer: Answer, _ context: ChannelHandlerContext) {
            guard answer.isGiven else { return }
            var head = HTTPResponseHead(version: .http1_1, status: .init(statusCode: answer.status))
            for (name, value) in answer.headers { head.headers.add(name: name, value: value) }
            head.headers.replaceOrAdd(name: "content-length", value: "\(answer.body.utf8.count)")
            context.write(Self.wrapOutboundOut(.head(head)), promise: nil)
            if !answer.body.isEmpty {
                context.write(Self.wrapOutboundOut(.body(.byteBuffer(ByteBuffer(string: answer.body)))), promise: nil)
            }
            context.writeAndFlush(Self.wrapOutboundOut(.end(nil)), promise: nil)
        }
    }
}

/// A browser with a subscription at a push service.
package struct Browser: Sendable {
    package let secret: WebPushSecret
    package let endpoint: String

    package init(at endpoint: String) { (self.secret, self.endpoint) = (WebPushSecret(), endpoint) }

    /// The JSON that the page hands on.
    package var subscription: JSONValue {
        let keys = self.secret.keys
        return .object([
            "endpoint": .string(self.endpoint), "expirationTime": .null,
            "keys": .object([
                "p256dh": .string(Base64URL.encode(keys?.publicKey ?? [])),
                "auth": .string(Base64URL.encode(keys?.secret ?? [])),
            ]),
        ])
    }

    /// Returns the content of a message as JSON; `null` for one that does not open.
    package func read(_ body: [UInt8]) -> JSONValue {
        guard let content = self.secret.open(body) else { return .null }
        return (try? JSONValue(parsing: Data(content))) ?? .null
    }
}
