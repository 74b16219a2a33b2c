import Dispatch
import Foundation
import PushSupport
import PushTesting
import Synchronization
import Testing

@testable import PushProvider

/// Names whose servers do not respond.
@Suite(.timeLimit(.patience)) struct SystemResolverTests {
    private let names = HeldNames()

    /// Returns budgets of so many look-ups for all, for one app, and of names that were never found.
    private static func budgets(_ whole: Int, perApp: Int, new: Int, waiting: Int = 100) -> BudgetRegistry {
        func limits(_ whole: Int) -> BudgetLimits {
            BudgetLimits(
                .init(whole: .held(whole), caller: .held(perApp)),
                waiting: .init(caller: waiting),
                patience: .patience
            )
        }
        return BudgetRegistry([.nameLookups: limits(whole), .newNameLookups: limits(new)])
    }

    private func resolver(_ budgets: BudgetRegistry) -> SystemResolver {
        SystemResolver(budgets) { try self.names.find($0) }
    }

    /// Begins to look for a name.
    private func look(
        _ name: String,
        app: Int64,
        givenBy source: HostNameSource = .settings,
        _ resolver: SystemResolver
    ) -> Task<Int, any Error> {
        Task { try await resolver.addresses(of: name, for: app, givenBy: source, within: .patience).count }
    }

    private func waitForTurns(_ count: Int, _ budgets: BudgetRegistry) async throws {
        try await eventually { budgets[.newNameLookups].usage.waiting == count }
    }

    @Test func anAppHasFewLookUps() async throws {
        let budgets = Self.budgets(4, perApp: 2, new: 4)
        let resolver = self.resolver(budgets)
        defer { self.names.endAll() }
        let (first, second) = (self.look("a", app: 1, resolver), self.look("b", app: 1, resolver))
        try await self.names.waitUntilStarted(["a", "b"])
        let third = self.look("c", app: 1, resolver)
        try await self.waitForTurns(1, budgets)
        let other = self.look("d", app: 2, resolver)
        try await self.names.waitUntilStarted(["d"])
        #expect(!self.names.started.contains("c"), "the app has its look-ups")
        self.names.end("a")
        #expect(try await first.value == 1)
        try await self.names.waitUntilStarted(["c"])
        self.names.endAll()
        for look in [second, third, other] { #expect(try await look.value == 1) }
        #expect(budgets[.nameLookups].usage.held == 0 && budgets[.newNameLookups].usage.held == 0)
    }

    /// Names that strangers and users give can have servers that do not respond.
    @Test func theNamesOfSettingsHaveLookUpsOfTheirOwn() async throws {
        let budgets = Self.budgets(8, perApp: 2, new: 8)
        let resolver = self.resolver(budgets)
        defer { self.names.endAll() }
        let strangers = ["a", "b", "c"].map { self.look($0, app: 1, givenBy: .strangers, resolver) }
        let users = ["d", "e", "f"].map { self.look($0, app: 1, givenBy: .users, resolver) }
        try await self.waitForTurns(2, budgets)
        let publisher = self.look("publisher", app: 1, resolver)
        try await self.names.waitUntilStarted(["publisher"])
        self.names.endAll()
        for look in strangers + users + [publisher] { #expect(try await look.value == 1) }
    }

    /// The servers of a stranger's name may respond once.
    @Test func aNameOfStrangersLeavesLookUpsAlsoOnceItWasFound() async throws {
        let budgets = Self.budgets(4, perApp: 4, new: 1)
        let resolver = self.resolver(budgets)
        defer { self.names.endAll() }
        let first = self.look("known", app: 1, givenBy: .strangers, resolver)
        try await self.names.waitUntilStarted(["known"])
        self.names.end("known")
        #expect(try await first.value == 1)
        let other = self.look("a", app: 1, givenBy: .strangers, resolver)
        try await self.names.waitUntilStarted(["a"])
        let second = self.look("known", app: 1, givenBy: .strangers, resolver)
        try await self.waitForTurns(1, budgets)
        self.names.endAll()
        for look in [other, second] { #expect(try await look.value == 1) }
    }

    /// A look-up that has not begun says nothing about its name.
    @Test func aTurnThatComesTooLateIsNotSlow() async throws {
        let resolver = self.resolver(Self.budgets(1, perApp: 1, new: 1))
        defer { self.names.endAll() }
        let first = self.look("a", app: 1, resolver)
        try await self.names.waitUntilStarted(["a"])
        for (name, failure) in [("a", NameResolutionFailure.tooSlow), ("b", NameResolutionFailure.busy)] {
            await #expect(throws: failure) {
                try await resolver.addresses(of: name, for: 1, givenBy: .settings, within: .milliseconds(1))
            }
        }
        self.names.endAll()
        #expect(try await first.value == 1)
    }

    @Test func aNameIsLookedUpOnceForAll() async throws {
        let budgets = Self.budgets(1, perApp: 1, new: 1)
        let resolver = self.resolver(budgets)
        defer { self.names.endAll() }
        let before = self.look("x", app: 1, resolver)
        try await self.names.waitUntilStarted(["x"])
        let (first, second) = (self.look("a", app: 2, resolver), self.look("a", app: 3, resolver))
        try await self.waitForTurns(2, budgets)
        self.names.end("x")
        #expect(try await before.value == 1)
        try await self.names.waitUntilStarted(["a"])
        self.names.end("a")
        #expect(try await first.value == 1)
        #expect(try await second.value == 1)
        #expect(self.names.started == ["x", "a"])
    }

    @Test func cancelledCallersTakeNoLookUp() async throws {
        let budgets = Self.budgets(1, perApp: 1, new: 1)
        let resolver = self.resolver(budgets)
        defer { self.names.endAll() }
        let first = self.look("hole", app: 1, resolver)
        try await self.names.waitUntilStarted(["hole"])
        let (cancelled, last) = (self.look("b", app: 1, resolver), self.look("c", app: 2, resolver))
        try await self.waitForTurns(2, budgets)
        cancelled.cancel()
        await #expect(throws: CancellationError.self) { try await cancelled.value }
        try await self.waitForTurns(1, budgets)
        self.names.end("hole")
        await #expect(throws: NameResolutionFailure.self) { try await first.value }
        try await self.names.waitUntilStarted(["c"])
        self.names.endAll()
        #expect(try await last.value == 1)
        #expect(!self.names.started.contains("b"))
    }

    @Test func namesThatWereNeverFoundLeaveLookUps() async throws {
        let budgets = Self.budgets(4, perApp: 4, new: 3)
        let resolver = self.resolver(budgets)
        defer { self.names.endAll() }
        func lookForKnown() async throws -> Task<Int, any Error> {
            let look = self.look("known", app: 7, resolver)
            try await self.names.waitUntilStarted(["known"])
            return look
        }
        let first = try await lookForKnown()
        self.names.end("known")
        #expect(try await first.value == 1)
        let holes = (1...6).map { self.look("hole\($0)", app: Int64($0), resolver) }
        try await self.waitForTurns(3, budgets)
        self.names.forget("known")
        let second = try await lookForKnown()
        // Not found any more: from now on it is one of the others.
        self.names.end("known", isFound: false)
        await #expect(throws: NameResolutionFailure.self) { try await second.value }
        let third = self.look("known", app: 7, resolver)
        try await self.waitForTurns(4, budgets)
        for look in holes + [third] { look.cancel() }
    }

    @Test func anAppWithTooManyLookUpsIsToldAndOthersAreNot() async throws {
        let budgets = Self.budgets(1, perApp: 1, new: 1, waiting: 1)
        let resolver = self.resolver(budgets)
        defer { self.names.endAll() }
        let first = self.look("a", app: 1, resolver)
        try await self.names.waitUntilStarted(["a"])
        let second = self.look("b", app: 1, resolver)
        try await self.waitForTurns(1, budgets)
        await #expect(throws: NameResolutionFailure.busy) {
            try await resolver.addresses(of: "c", for: 1, givenBy: .settings, within: .patience)
        }
        let other = self.look("d", app: 2, resolver)
        try await self.waitForTurns(2, budgets)
        self.names.endAll()
        for look in [first, second, other] { #expect(try await look.value == 1) }
    }

    @Test func blackHolesOfOneAppLeaveTheOthersTheirNames() async throws {
        let holes = DispatchSemaphore(value: 0)
        let resolver = SystemResolver(BudgetRegistry(BudgetLimits.patient)) { name in
            if name.hasPrefix("hole") { holes.wait() }
            return [IPAddress("192.0.2.1")].compactMap { $0 }
        }
        try await withThrowingTaskGroup(of: Void.self) { group in
            for number in 0..<40 {
                group.addTask {
                    // Two are looked up, and the others have no turn.
                    await #expect(throws: NameResolutionFailure.self) {
                        try await resolver.addresses(
                            of: "hole\(number)",
                            for: 1,
                            givenBy: .settings,
                            within: .milliseconds(1)
                        )
                    }
                }
            }
            try await group.waitForAll()
        }
        for app in 2...9 {
            #expect(try await self.look("name\(app)", app: Int64(app), resolver).value == 1)
        }
        for _ in 0..<40 { holes.signal() }
    }

    @Test func aFailedLookUpHasAReason() async throws {
        let resolver = SystemResolver(BudgetRegistry(BudgetLimits.patient)) { _ in
            throw NameResolutionFailure.unknown(reason: "no such name")
        }
        await #expect(throws: NameResolutionFailure.unknown(reason: "no such name")) {
            try await resolver.addresses(of: "name", for: 1, givenBy: .settings, within: .patience)
        }
    }
}

/// Names whose look-ups last until a test ends them.
private final class HeldNames: Sendable {
    private struct State {
        var started: [String] = []
        /// What ends a look-up of each name, and whether it is found.
        var ends: [String: DispatchSemaphore] = [:]
        var missing: Set<String> = []
        var isOpen = false
    }

    private let state = Mutex(State())

    /// The names in the order in which their look-ups began.
    var started: [String] { self.state.withLock { $0.started } }

    /// Looks a name up. One that begins with *hole* is never found.
    func find(_ name: String) throws -> [IPAddress] {
        let end = self.state.withLock { state -> DispatchSemaphore? in
            state.started.append(name)
            return state.isOpen ? nil : Self.end(of: name, in: &state)
        }
        end?.wait()
        guard !name.hasPrefix("hole"), !self.state.withLock({ $0.missing.contains(name) }) else {
            throw NameResolutionFailure.unknown(reason: "no such name")
        }
        return [IPAddress("192.0.2.1")].compactMap { $0 }
    }

    private static func end(of name: String, in state: inout State) -> DispatchSemaphore {
        if let end = state.ends[name] { return end }
        let end = DispatchSemaphore(value: 0)
        state.ends[name] = end
        return end
    }

    func waitUntilStarted(_ names: Set<String>) async throws {
        try await eventually { names.isSubset(of: self.started) }
    }

    /// Forgets that a name was looked up.
    func forget(_ name: String) { self.state.withLock { $0.started.removeAll { $0 == name } } }

    func end(_ name: String, isFound: Bool = true) {
        self.state.withLock { state in
            if !isFound { state.missing.insert(name) }
            return Self.end(of: name, in: &state)
        }
        .signal()
    }

    func endAll() {
        self.state.withLock { state in
            state.isOpen = true
            return Array(state.ends.values)
        }
        .forEach { $0.signal() }
    }
}
