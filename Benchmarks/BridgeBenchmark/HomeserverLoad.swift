import Benchmarking
import Dispatch
import NIOCore
import NIOPosix

/// Connections of HTTP/1.1, each with one request at a time, which share the requests of a run.
struct HomeserverLoad: Sendable {
    let port: Int
    let clients: Int
    let count: Int
    let requests: MatrixRequests

    /// Sends all requests.
    /// - Parameter limit: The seconds after which it is given up.
    /// - Returns: The times from each request to its response, in nanoseconds.
    func run(limit: Double) async throws -> [UInt64] {
        // One thread leaves the other cores to the provider.
        let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
        defer { group.shutdownGracefully { _ in } }
        let results = try await withThrowingTaskGroup(of: [UInt64].self) { tasks in
            for client in 0..<self.clients { tasks.addTask { try await self.run(client, on: group, limit: limit) } }
            return try await tasks.reduce(into: []) { $0 += $1 }
        }
        return results
    }

    private func run(_ client: Int, on group: MultiThreadedEventLoopGroup, limit: Double) async throws -> [UInt64] {
        let loop = group.next()
        let done = loop.makePromise(of: [UInt64].self)
        let timeout = loop.scheduleTask(in: .milliseconds(Int64(limit * 1000))) {
            done.fail(BenchmarkFailure("no response after \(limit) s"))
        }
        let numbers = stride(from: client, to: self.count, by: self.clients)
        let channel = try await ClientBootstrap(group: loop)
            .channelOption(.socketOption(.tcp_nodelay), value: 1)
            .channelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    let handler = HomeserverHandler(numbers: numbers, requests: self.requests, done: done)
                    try channel.pipeline.syncOperations.addHandler(handler)
                }
            }
            .connect(host: "127.0.0.1", port: self.port)
            .get()
        defer {
            timeout.cancel()
            channel.close(promise: nil)
        }
        return try await done.futureResult.get()
    }
}

/// Sends one request after the other, each when the response to the one before has arrived.
final class HomeserverHandler: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    private static let success = Array("HTTP/1.1 200".utf8)
    private static let end = Array(#"{"rejected":[]}"#.utf8)

    private var numbers: StrideTo<Int>.Iterator
    private let requests: MatrixRequests
    private let done: EventLoopPromise<[UInt64]>
    private var times: [UInt64] = []
    private var sentAt: UInt64 = 0
    private var response = ByteBuffer()

    init(numbers: StrideTo<Int>, requests: MatrixRequests, done: EventLoopPromise<[UInt64]>) {
        (self.numbers, self.requests, self.done) = (numbers.makeIterator(), requests, done)
    }

    func channelActive(context: ChannelHandlerContext) { self.next(context) }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        self.response.writeImmutableBuffer(Self.unwrapInboundIn(data))
        let bytes = self.response.readableBytesView
        guard bytes.starts(with: Self.success) || bytes.count < Self.success.count else {
            return self.done.fail(BenchmarkFailure(String(buffer: self.response)))
        }
        guard bytes.suffix(Self.end.count).elementsEqual(Self.end) else { return }
        self.times.append(DispatchTime.now().uptimeNanoseconds - self.sentAt)
        self.response.clear()
        self.next(context)
    }

    func channelInactive(context: ChannelHandlerContext) {
        self.done.fail(BenchmarkFailure("the provider has closed a connection"))
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) { self.done.fail(error) }

    private func next(_ context: ChannelHandlerContext) {
        guard let number = self.numbers.next() else { return self.done.succeed(self.times) }
        let request = self.requests.request(number)
        self.sentAt = DispatchTime.now().uptimeNanoseconds
        context.writeAndFlush(Self.wrapOutboundOut(request), promise: nil)
    }
}
