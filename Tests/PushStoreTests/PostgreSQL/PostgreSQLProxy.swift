#if PostgreSQL
import Foundation
import Synchronization
import Testing

/// A proxy between connections and a server, both behind local sockets, which can cut them.
final class PostgreSQLProxy: Sendable {
    private struct State {
        var listener: Int32?
        var sockets: Set<Int32> = []
        var losesAnswers = false
    }

    /// The folder of the proxy's socket.
    let folder: String
    private let server: String
    private let state = Mutex(State())

    init(to server: String) throws {
        self.server = server
        self.folder = "/tmp/martlet-proxy-\(UInt32.random(in: 0 ... .max))"
        try FileManager.default.createDirectory(atPath: self.folder, withIntermediateDirectories: false)
        try self.start()
    }

    deinit { try? FileManager.default.removeItem(atPath: self.folder) }

    /// Makes the proxy lose the answers to `COMMIT`, and the connections with them.
    func loseAnswers(_ losesAnswers: Bool) { self.state.withLock { $0.losesAnswers = losesAnswers } }

    func start() throws {
        let listener = try Self.socket(self.folder) { bind($0, $1, $2) }
        try #require(listen(listener, 16) == 0)
        self.state.withLock { $0.listener = listener }
        Thread.detachNewThread {
            while case let client = accept(listener, nil, nil), client >= 0 { self.serve(client) }
            close(listener)
        }
    }

    /// Cuts all connections, and takes no more.
    func stop() {
        self.refuse()
        self.state.withLock { state in
            for socket in state.sockets { shutdown(socket, Int32(SHUT_RDWR)) }
        }
    }

    /// Takes no more connections.
    func refuse() {
        self.state.withLock { state in
            if let listener = state.listener { shutdown(listener, Int32(SHUT_RDWR)) }
            state.listener = nil
        }
        try? FileManager.default.removeItem(atPath: "\(self.folder)/.s.PGSQL.5432")
    }

    private func serve(_ client: Int32) {
        guard let server = try? Self.socket(self.server, connect) else { return _ = close(client) }
        self.state.withLock { $0.sockets.formUnion([client, server]) }
        let isLost = Flag()
        Thread.detachNewThread {
            Self.copy(from: client, to: server) { bytes in
                let isCommit = String(decoding: bytes, as: UTF8.self).contains("COMMIT\0")
                if isCommit, self.state.withLock({ $0.losesAnswers }) { isLost.set() }
                return true
            }
        }
        Thread.detachNewThread {
            Self.copy(from: server, to: client) { _ in !isLost.isSet }
            self.state.withLock { state in
                state.sockets.subtract([client, server])
                // The other thread reads until the end.
                for socket in [client, server] { shutdown(socket, Int32(SHUT_RDWR)) }
            }
        }
    }

    private final class Flag: Sendable {
        private let value = Atomic(false)
        var isSet: Bool { self.value.load(ordering: .sequentiallyConsistent) }
        func set() { self.value.store(true, ordering: .sequentiallyConsistent) }
    }

    private static func copy(from source: Int32, to target: Int32, if isPassed: ([UInt8]) -> Bool) {
        var buffer = [UInt8](repeating: 0, count: 65_536)
        while case let count = read(source, &buffer, buffer.count), count > 0, isPassed(Array(buffer[..<count])) {
            var written = 0
            while written < count {
                let step = send(target, Array(buffer[written..<count]), count - written, Int32(MSG_NOSIGNAL))
                guard step > 0 else { break }
                written += step
            }
        }
        shutdown(source, Int32(SHUT_RDWR))
        shutdown(target, Int32(SHUT_RDWR))
    }

    /// Returns a socket that `use` has bound to the path of the server in a folder, or connected with it.
    private static func socket(
        _ folder: String,
        _ use: (Int32, UnsafePointer<sockaddr>, socklen_t) -> Int32
    ) throws -> Int32 {
        #if canImport(Glibc)
        let socket = Foundation.socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
        #else
        let socket = Foundation.socket(AF_UNIX, SOCK_STREAM, 0)
        #endif
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { path in
            path.copyBytes(from: "\(folder)/.s.PGSQL.5432".utf8.prefix(path.count - 1))
        }
        let result = withUnsafePointer(to: address) { address in
            address.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
                use(socket, address, socklen_t(MemoryLayout<sockaddr_un>.size))
            }
        }
        try #require(result == 0)
        return socket
    }
}
#endif
