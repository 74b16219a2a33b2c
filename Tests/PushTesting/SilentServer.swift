import NIOCore
import NIOPosix

/// A server that accepts connections, reads nothing and never responds.
package enum SilentServer {
    /// Runs a server on a free port for the duration of `body`.
    package static func run(_ body: (_ port: Int) async throws -> Void) async throws {
        let server = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .childChannelOption(ChannelOptions.autoRead, value: false)
            .bind(host: "127.0.0.1", port: 0).get()
        do {
            try await body(server.localAddress?.port ?? 0)
            try await server.close()
        } catch {
            try? await server.close()
            throw error
        }
    }
}
