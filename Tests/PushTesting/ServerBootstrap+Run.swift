import NIOCore
package import NIOPosix

extension ServerBootstrap {
    /// Runs the server on a free port for the duration of `body`.
    package func run<Value>(_ body: (_ port: Int) async throws -> Value) async throws -> Value {
        let server = try await self.bind(host: "127.0.0.1", port: 0).get()
        do {
            let value = try await body(server.localAddress?.port ?? 0)
            try await server.close()
            return value
        } catch {
            try? await server.close()
            throw error
        }
    }
}
