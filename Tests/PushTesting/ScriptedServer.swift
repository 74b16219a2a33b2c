import NIOCore
import NIOPosix
import Synchronization

/// An HTTP/1.1 server that writes what a test says, and closes each connection after one request.
package final class ScriptedServer: Sendable {
    /// The requests so far, each with its head and body.
    private let received = Mutex<[String]>([])
    private let response: @Sendable (_ request: String, _ number: Int) -> String?

    private init(_ response: @escaping @Sendable (String, Int) -> String?) { self.response = response }

    package var requests: [String] { self.received.withLock { $0 } }

    /// Runs a server on a free port for the duration of `body`.
    /// - Parameter response: Returns the text of a response to a request and its number from 1; `nil` closes the connection
    ///   without one.
    package static func run(
        _ response: @escaping @Sendable (_ request: String, _ number: Int) -> String?,
        _ body: (_ server: ScriptedServer, _ port: Int) async throws -> Void
    ) async throws {
        let scripted = ScriptedServer(response)
        try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .childChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.addHandler(ScriptHandler(scripted))
                }
            }
            .run { port in try await body(scripted, port) }
    }

    /// Returns the text of a response with a body of JSON.
    package static func response(_ status: Int, _ body: String) -> String {
        "HTTP/1.1 \(status) X\r\ncontent-length: \(body.utf8.count)\r\nconnection: close\r\n\r\n\(body)"
    }

    fileprivate func answer(_ request: String) -> String? {
        let number = self.received.withLock { received in
            received.append(request)
            return received.count
        }
        return self.response(request, number)
    }
}

/// Reads one request.
private final class ScriptHandler: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    private let server: ScriptedServer
    private var request = ""

    init(_ server: ScriptedServer) { self.server = server }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        self.request += String(buffer: self.unwrapInboundIn(data))
        let parts = self.request.split(separator: "\r\n\r\n", maxSplits: 1, omittingEmptySubsequences: false)
        guard parts.count == 2 else { return }
        let name = "content-length:"
        let field = parts[0].split(whereSeparator: \.isNewline).first { $0.lowercased().hasPrefix(name) }
        let length = field.flatMap { Int($0.dropFirst(name.count).drop { $0 == " " }) } ?? 0
        guard parts[1].utf8.count >= length else { return }
        guard let response = self.server.answer(self.request) else { return context.close(promise: nil) }
        let channel = context.channel
        channel.writeAndFlush(ByteBuffer(string: response)).whenComplete { _ in channel.close(promise: nil) }
    }
}
