import NIOCore
import NIOPosix

#if canImport(Glibc)
import Glibc
#else
import Darwin
#endif

/// Finds the addresses of a name.
package protocol NameResolver: Sendable {
    /// At least one, the best first.
    /// - Throws: ``NameResolutionFailure``.
    func addresses(of name: String, within limit: Duration) async throws -> [IPAddress]
}

/// Why a name has no addresses.
package enum NameResolutionFailure: Error, Hashable, Sendable, CustomStringConvertible {
    case unknown(why: String)
    case tooSlow

    package var description: String {
        switch self {
        case .unknown(let why): "its name cannot be resolved: \(why)"
        case .tooSlow: "its name could not be resolved in time"
        }
    }
}

/// The resolver of the system. It blocks, and cannot be told to stop: it has a few threads of its own, and a lookup that
/// takes too long is left to itself.
package final class SystemResolver: NameResolver {
    private let threads = NIOThreadPool(numberOfThreads: 8)

    package init() {
        self.threads.start()
    }

    deinit {
        self.threads.shutdownGracefully { _ in }
    }

    package func addresses(of name: String, within limit: Duration) async throws -> [IPAddress] {
        let loop = MultiThreadedEventLoopGroup.singleton.any()
        let promise = loop.makePromise(of: [IPAddress].self)
        let timer = loop.scheduleTask(in: TimeAmount(limit)) { promise.fail(NameResolutionFailure.tooSlow) }
        // Whichever is first counts.
        self.threads.submit { state in
            promise.completeWith(
                Result {
                    guard state == .active else { throw CancellationError() }
                    return try Self.lookUp(name)
                }
            )
        }
        defer { timer.cancel() }
        return try await withTaskCancellationHandler {
            try await promise.futureResult.get()
        } onCancel: {
            promise.fail(CancellationError())
        }
    }

    private static func lookUp(_ name: String) throws -> [IPAddress] {
        var hints = addrinfo()
        #if canImport(Glibc)
        hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
        #else
        hints.ai_socktype = SOCK_STREAM
        #endif
        var first: UnsafeMutablePointer<addrinfo>?
        let code = getaddrinfo(name, nil, &hints, &first)
        guard code == 0 else { throw NameResolutionFailure.unknown(why: String(cString: gai_strerror(code))) }
        defer { freeaddrinfo(first) }
        var addresses: [IPAddress] = []
        var next = first
        while let info = next?.pointee {
            if let address = IPAddress(info) { addresses.append(address) }
            next = info.ai_next
        }
        guard !addresses.isEmpty else { throw NameResolutionFailure.unknown(why: "it has no address") }
        return addresses
    }
}
