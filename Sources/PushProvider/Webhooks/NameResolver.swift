import NIOCore
import NIOPosix
import Synchronization

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
    /// The same; `app` is the one whose webhook has the name, so that one app cannot take all that a resolver has.
    func addresses(of name: String, for app: Int64, within limit: Duration) async throws -> [IPAddress]
}

extension NameResolver {
    package func addresses(of name: String, for app: Int64, within limit: Duration) async throws -> [IPAddress] {
        try await self.addresses(of: name, within: limit)
    }
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
/// takes too long is left to itself. ``ResolverQueue`` decides whose name is next.
package final class SystemResolver: NameResolver {
    package typealias LookUp = @Sendable (String) throws -> [IPAddress]

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

    /// - Parameter lookUp: finds the addresses of a name; may block.
    init(limits: ResolverQueue.Limits = .init(), lookUp: @escaping LookUp) {
        self.threads = NIOThreadPool(numberOfThreads: limits.places)
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
        // Whichever is first counts.
        let timer = loop.scheduleTask(in: TimeAmount(limit)) { promise.fail(NameResolutionFailure.tooSlow) }
        let (id, begun) = self.state.withLock { state in
            state.lastID += 1
            state.promises[state.lastID] = promise
            return (state.lastID, state.queue.ask(state.lastID, for: name, app: app))
        }
        self.begin(begun)
        defer {
            timer.cancel()
            self.state.withLock { state in
                state.promises[id] = nil
                state.queue.giveUp(id)
            }
        }
        return try await withTaskCancellationHandler {
            try await promise.futureResult.get()
        } onCancel: {
            promise.fail(CancellationError())
        }
    }

    private func begin(_ names: [String]) {
        for name in names {
            self.threads.submit { state in
                let result = Result {
                    guard state == .active else { throw CancellationError() }
                    return try self.lookUp(name)
                }
                self.ended(name, result)
            }
        }
    }

    private func ended(_ name: String, _ result: Result<[IPAddress], any Error>) {
        let (promises, begun) = self.state.withLock { state in
            let (answered, begun) = state.queue.ended(name, isFound: (try? result.get()) != nil)
            return (answered.compactMap { state.promises.removeValue(forKey: $0) }, begun)
        }
        for promise in promises { promise.completeWith(result) }
        self.begin(begun)
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
