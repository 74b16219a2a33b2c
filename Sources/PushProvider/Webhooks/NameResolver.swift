import NIOCore
import NIOPosix
import Synchronization

#if canImport(Glibc)
import Glibc
#else
import Darwin
#endif

/// Resolves host names.
package protocol NameResolver: Sendable {
    /// Returns the addresses of a name, at least one, the best first.
    /// - Throws: ``NameResolutionFailure``.
    func addresses(of name: String, within limit: Duration) async throws -> [IPAddress]
    /// Returns the addresses of the name of an app's webhook. Each app is limited, so that none takes all capacity.
    func addresses(of name: String, for app: Int64, within limit: Duration) async throws -> [IPAddress]
}

extension NameResolver {
    package func addresses(of name: String, for app: Int64, within limit: Duration) async throws -> [IPAddress] {
        try await self.addresses(of: name, within: limit)
    }
}

/// The error of a name that has no addresses.
package enum NameResolutionFailure: Error, Hashable, Sendable, CustomStringConvertible {
    case unknown(reason: String)
    case tooSlow

    package var description: String {
        switch self {
        case .unknown(let reason): "its name cannot be resolved: \(reason)"
        case .tooSlow: "its name could not be resolved in time"
        }
    }
}

/// The resolver of the operating system.
///
/// It blocks and cannot be cancelled. It has a few threads of its own, and a look-up that takes too long is abandoned.
/// ``ResolverQueue`` decides the order of look-ups.
package final class SystemResolver: NameResolver {
    package typealias LookUp = @Sendable (String) throws -> [IPAddress]

    /// The queue, and the promises of its callers.
    private struct State {
        var queue: ResolverQueue
        var promises: [Int: EventLoopPromise<[IPAddress]>] = [:]
        var lastID = 0
    }

    private let threads: NIOThreadPool
    private let lookUp: LookUp
    private let state: Mutex<State>

    package convenience init() {
        self.init(lookUp: Self.systemLookUp)
    }

    /// - Parameter lookUp: Finds the addresses of a name. It may block.
    init(limits: ResolverQueue.Limits = .init(), lookUp: @escaping LookUp) {
        self.threads = NIOThreadPool(numberOfThreads: limits.slots)
        self.lookUp = lookUp
        self.state = Mutex(State(queue: ResolverQueue(limits: limits)))
        self.threads.start()
    }

    deinit {
        self.threads.shutdownGracefully { _ in }
    }

    package func addresses(of name: String, within limit: Duration) async throws -> [IPAddress] {
        try await self.addresses(of: name, for: 0, within: limit)
    }

    package func addresses(of name: String, for app: Int64, within limit: Duration) async throws -> [IPAddress] {
        let loop = MultiThreadedEventLoopGroup.singleton.any()
        let promise = loop.makePromise(of: [IPAddress].self)
        // The timer and the look-up complete the promise, the first of them counts.
        let timer = loop.scheduleTask(in: TimeAmount(limit)) { promise.fail(NameResolutionFailure.tooSlow) }
        let (id, started) = self.state.withLock { state in
            state.lastID += 1
            state.promises[state.lastID] = promise
            return (state.lastID, state.queue.enqueue(state.lastID, for: name, app: app))
        }
        self.start(started)
        defer {
            timer.cancel()
            self.state.withLock { state in
                state.promises[id] = nil
                state.queue.cancel(id)
            }
        }
        return try await withTaskCancellationHandler {
            try await promise.futureResult.get()
        } onCancel: {
            promise.fail(CancellationError())
        }
    }

    private func start(_ names: [String]) {
        for name in names {
            self.threads.submit { state in
                let result = Result {
                    guard state == .active else { throw CancellationError() }
                    return try self.lookUp(name)
                }
                self.finish(name, result)
            }
        }
    }

    private func finish(_ name: String, _ result: Result<[IPAddress], any Error>) {
        let (promises, started) = self.state.withLock { state in
            let (waiters, started) = state.queue.finish(name, isFound: (try? result.get()) != nil)
            return (waiters.compactMap { state.promises.removeValue(forKey: $0) }, started)
        }
        for promise in promises { promise.completeWith(result) }
        self.start(started)
    }

    private static let systemLookUp: LookUp = { try SystemResolver.lookUp($0) }

    private static func lookUp(_ name: String) throws -> [IPAddress] {
        var hints = addrinfo()
        #if canImport(Glibc)
        hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
        #else
        hints.ai_socktype = SOCK_STREAM
        #endif
        var first: UnsafeMutablePointer<addrinfo>?
        let code = getaddrinfo(name, nil, &hints, &first)
        guard code == 0 else { throw NameResolutionFailure.unknown(reason: String(cString: gai_strerror(code))) }
        defer { freeaddrinfo(first) }
        var addresses: [IPAddress] = []
        var next = first
        while let info = next?.pointee {
            if let address = IPAddress(info) { addresses.append(address) }
            next = info.ai_next
        }
        guard !addresses.isEmpty else { throw NameResolutionFailure.unknown(reason: "it has no address") }
        return addresses
    }
}
