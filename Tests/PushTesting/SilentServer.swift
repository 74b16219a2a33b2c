import NIOCore
import NIOPosix

/// A server that accepts connections, reads nothing and never responds.
package enum SilentServer {
    /// Runs a server on a free port for the duration of `body`.
    package static func run(_ body: (_ port: Int) async throws -> Void) async throws {
        try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .childChannelOption(ChannelOptions.autoRead, value: false)
            .run(body)
    }
}
