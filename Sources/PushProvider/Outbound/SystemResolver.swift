import Foundation
import NIOCore
import NIOPosix
package import PushSupport
import Synchronization

/// Resolves names with the operating system's resolver. A process has one instance.
///
/// A look-up blocks a thread and cannot be cancelled. Without a response it takes half a minute or more.
///
/// Look-ups run on a few threads of their own, and concurrent look-ups of the same name are combined. Each source of an
/// app has a few look-ups at a time. Names that were never found, and names that no operator has set, leave some
/// threads to other names. A caller whose time limit has passed gets an error, and the look-up continues.
package final class SystemResolver: NameResolver {
    package typealias LookUp = @Sendable (String) throws -> [IPAddress]

    private struct State {
        var callers: [String: [Int: EventLoopPromise<[IPAddress]>]] = [:]
        var lastID = 0
        var running: [String: ContinuousClock.Instant] = [:]
        var found = BoundedCache<String, Void>(maximum: 4096)
    }

    private let threads: NIOThreadPool
    private let lookUps, newNames: Budget
    private let lookUp: LookUp
    private let state = Mutex(State())

    package convenience init(_ budgets: BudgetRegistry) { self.init(budgets, lookUp: Self.systemLookUp) }

    /// Creates a resolver. `lookUp` finds the addresses of a name, and may block its thread.
    init(_ budgets: BudgetRegistry, lookUp: @escaping LookUp) {
        (self.lookUps, self.newNames, self.lookUp) = (budgets[.nameLookups], budgets[.newNameLookups], lookUp)
        var count = 1
        if case .held(let most) = self.lookUps.limits.bounds.whole { count = most }
        self.threads = NIOThreadPool(numberOfThreads: count)
        self.threads.start()
    }

    deinit { self.threads.shutdownGracefully { _ in } }

    package func addresses(of name: String, within limit: Duration) async throws -> [IPAddress] {
        try await self.addresses(of: name, for: 0, givenBy: .settings, within: limit)
    }

    package func addresses(
        of name: String,
        for app: Int64,
        givenBy source: HostNameSource,
        within limit: Duration
    ) async throws -> [IPAddress] {
        let loop = MultiThreadedEventLoopGroup.singleton.any()
        let promise = loop.makePromise(of: [IPAddress].self)
        // A look-up that began in the second half of the time is not slow: its turn was late.
        let half = ContinuousClock.now.advanced(by: limit / 2)
        // Both the timer and the look-up complete the promise, and the first of them counts.
        let timer = loop.scheduleTask(in: TimeAmount(limit)) {
            let hasBegun = self.state.withLock { state in state.running[name].map { $0 <= half } ?? false }
            promise.fail(hasBegun ? NameResolutionFailure.tooSlow : .busy)
        }
        let id = self.state.withLock { state in
            state.lastID += 1
            state.callers[name, default: [:]][state.lastID] = promise
            return state.lastID
        }
        // If a look-up of the same name for another caller ends first, its result is used.
        let turn = Task {
            do {
                try await self.begin(name, for: app, givenBy: source, id)
            } catch is BudgetRefusal {
                promise.fail(NameResolutionFailure.busy)
            } catch {
                promise.fail(error)
            }
        }
        defer {
            timer.cancel()
            turn.cancel()
            self.state.withLock { state in
                state.callers[name]?[id] = nil
                if state.callers[name]?.isEmpty == true { state.callers[name] = nil }
            }
        }
        return try await withTaskCancellationHandler {
            try await promise.futureResult.get()
        } onCancel: {
            promise.fail(CancellationError())
        }
    }

    /// Waits until a name may be looked up, and starts the look-up unless one is in progress.
    private func begin(_ name: String, for app: Int64, givenBy source: HostNameSource, _ id: Int) async throws {
        let (isRunning, isFound) = self.state.withLock { ($0.running[name] != nil, $0.found.contains(name)) }
        guard !isRunning else { return }
        let account = BudgetCaller(.name("\(app) \(source.rawValue)"))
        var places: [BudgetPermit] = []
        // The name servers of a name that no operator has set may respond once and not again, so that its earlier
        // success does not count.
        if !isFound || source != .settings { places.append(try await self.newNames.wait(for: account)) }
        places.append(try await self.lookUps.wait(for: account))
        let isNext = self.state.withLock { state in
            guard state.callers[name]?[id] != nil, state.running[name] == nil else { return false }
            state.running[name] = ContinuousClock.now
            return true
        }
        guard isNext else { return }
        self.threads.submit { [places] state in
            let result = Result {
                guard state == .active else { throw CancellationError() }
                return try self.lookUp(name)
            }
            for place in places { place.end() }
            self.finish(name, givenBy: source, result)
        }
    }

    private func finish(_ name: String, givenBy source: HostNameSource, _ result: Result<[IPAddress], any Error>) {
        let isFound = (try? result.get()) != nil
        let callers = self.state.withLock { state in
            state.running[name] = nil
            if !isFound {
                state.found[name] = nil
            } else if source == .settings {
                state.found.insert(name)
            }
            return state.callers.removeValue(forKey: name) ?? [:]
        }
        for promise in callers.values { promise.completeWith(result) }
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
