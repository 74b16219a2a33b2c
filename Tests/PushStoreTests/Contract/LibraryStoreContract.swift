import Foundation
import ProviderModel
import PushStore
import PushSupport
import PushTesting
import PushTypes
import Testing

/// Named audiences and templates: what every store must do with them.
@Suite struct LibraryStoreContract {
    private let now = Vectors.issuedAt

    private func change(
        _ action: LibraryChange.Action,
        _ name: String,
        app: Int64,
        kind: LibraryItem.Kind = .audience,
        _ body: [String: JSONValue]? = nil,
        expected: Int64? = nil
    ) -> LibraryChange {
        let by = KeyReference(id: UUID(), name: "ann")
        var change = LibraryChange(action, app: app, kind: kind, item: LibraryItemName(name), by: by, at: self.now)
        (change.body, change.expected) = (body, expected)
        return change
    }

    /// Makes a change that must succeed, and returns the item.
    @discardableResult
    private func item(_ change: LibraryChange, in store: any ProviderStore) async throws -> LibraryItem {
        let result = try await store.changeLibrary(change, limits: LibraryLimits())
        guard case .changed(let item, _) = result else {
            Issue.record("\(result)")
            throw StoreError.ending
        }
        return item
    }

    @Test(arguments: StoreBackend.available)
    func anItemIsFoundByItsNameOrItsIdInItsAppAndKindOnly(backend: StoreBackend) async throws {
        try await backend.withStore { store, app in
            let saved = try await self.item(self.change(.add, "beta", app: app, ["tag": "beta"]), in: store)
            for name in [LibraryItemName.name("beta"), .id(saved.id)] {
                #expect(try await store.libraryItem(name, of: .audience, app: app) == saved)
                #expect(try await store.libraryItem(name, of: .template, app: app) == nil)
                #expect(try await store.libraryItem(name, of: .audience, app: app + 1) == nil)
            }
            #expect(saved.version == 1 && saved.createdBy?.name == "ann")
            let pages: [(after: Int64, items: [LibraryItem])] = [(0, [saved]), (saved.number, [])]
            for (after, expected) in pages {
                let page = try await store.libraryItems(of: .audience, app: app, after: after, limit: 10, bytes: .max)
                #expect(page.entries == expected && page.next == nil)
            }
        }
    }

    @Test(arguments: StoreBackend.available)
    func namesAreListedByAppAndKindInTheirOrder(backend: StoreBackend) async throws {
        try await backend.withStore { store, app in
            for name in ["b", "a", "c"] {
                try await self.item(self.change(.add, name, app: app, ["tag": "beta"]), in: store)
            }
            try await self.item(self.change(.add, "t", app: app, kind: .template, ["alert": "Hi"]), in: store)
            let first = try await store.libraryNames(of: .audience, app: app, after: 0, limit: 2)
            #expect(first.map(\.name) == ["b", "a"])
            let rest = try await store.libraryNames(of: .audience, app: app, after: first[1].number, limit: 2)
            #expect(rest.map(\.name) == ["c"])
            let items = try await store.libraryItems(of: .audience, app: app, after: 0, limit: 10, bytes: .max)
            #expect((first + rest).map(\.id) == items.entries.map(\.id))
            #expect(try await store.libraryNames(of: .audience, app: app + 1, after: 0, limit: 2) == [])
        }
    }

    /// Each body has 20 bytes.
    @Test(arguments: StoreBackend.available)
    func aPageEndsOnceItsBodiesAreLongEnough(backend: StoreBackend) async throws {
        try await backend.withStore { store, app in
            for name in ["a", "b", "c", "d", "e"] {
                try await self.item(self.change(.add, name, app: app, ["tag": "0123456789"]), in: store)
            }
            func items(after: Int64, limit: Int = 10, bytes: Int) async throws -> ListPage<LibraryItem> {
                try await store.libraryItems(of: .audience, app: app, after: after, limit: limit, bytes: bytes)
            }
            let first = try await items(after: 0, bytes: 40)
            #expect(first.entries.map(\.name) == ["a", "b", "c"], "the third has exceeded it")
            #expect(first.next?.number == first.entries.last?.number)
            let rest = try await items(after: first.next?.number ?? 0, bytes: 40)
            #expect(rest.entries.map(\.name) == ["d", "e"] && rest.next == nil)
            #expect(try await items(after: 0, bytes: 0).entries.map(\.name) == ["a"], "there is one at least")
            #expect(try await items(after: 0, limit: 2, bytes: 40).entries.map(\.name) == ["a", "b"])
        }
    }

    @Test(arguments: StoreBackend.available)
    func aPageOfVersionsEndsOnceTheirBodiesAreLongEnough(backend: StoreBackend) async throws {
        try await backend.withStore { store, app in
            let body: [String: JSONValue] = ["alert": "0123456789"]
            var item = try await self.item(self.change(.save, "t", app: app, kind: .template, body), in: store)
            for _ in 1...3 {
                item = try await self.item(self.change(.save, "t", app: app, kind: .template, body), in: store)
            }
            let first = try await store.libraryVersions(of: item.id, before: .max, limit: 10, bytes: 30)
            #expect(first.entries.map(\.version) == [4, 3] && first.next?.number == 3)
            let rest = try await store.libraryVersions(of: item.id, before: 3, limit: 10, bytes: 100)
            #expect(rest.entries.map(\.version) == [2, 1] && rest.next == nil)
        }
    }

    @Test(arguments: StoreBackend.available)
    func aChangeIsMadeToTheVersionThatTheCallerHasSeen(backend: StoreBackend) async throws {
        try await backend.withStore { store, app in
            let limits = LibraryLimits()
            let first = try await self.item(self.change(.save, "beta", app: app, ["tag": "a"], expected: 0), in: store)
            let taken = self.change(.add, "beta", app: app, ["tag": "b"])
            #expect(try await store.changeLibrary(taken, limits: limits) == .nameTaken)
            let stale = self.change(.save, "beta", app: app, ["tag": "b"], expected: 0)
            #expect(try await store.changeLibrary(stale, limits: limits) == .stale(version: 1))
            let second = try await self.item(
                self.change(.save, "beta", app: app, ["tag": "b"], expected: 1),
                in: store
            )
            #expect(second.id == first.id && second.version == 2 && second.body == ["tag": "b"])
            let name = LibraryItemName.name("beta")
            let deleted = try await store.deleteLibraryItem(name, of: .audience, app: app, expected: 1)
            #expect(deleted == .stale(version: 2))
            #expect(try await store.deleteLibraryItem(name, of: .audience, app: app, expected: 2) == .deleted)
            #expect(try await store.deleteLibraryItem(name, of: .audience, app: app, expected: nil) == .missing)
            let gone = self.change(.save, "beta", app: app, ["tag": "b"], expected: 2)
            #expect(try await store.changeLibrary(gone, limits: limits) == .stale(version: 0))
        }
    }

    @Test(arguments: StoreBackend.available)
    func everyChangeIsAVersionAndAnEarlierOneCanBeRestored(backend: StoreBackend) async throws {
        try await backend.withStore { store, app in
            var limits = LibraryLimits()
            limits.versions = 3
            for number in 1...4 {
                let change = self.change(.save, "t", app: app, kind: .template, ["alert": .integer(Int64(number))])
                _ = try await store.changeLibrary(change, limits: limits)
            }
            let restore = self.change(.restore(version: 2), "t", app: app, kind: .template)
            guard case .changed(let item, false) = try await store.changeLibrary(restore, limits: limits) else {
                Issue.record("not restored")
                return
            }
            #expect(item.version == 5 && item.body == ["alert": 2])
            let versions = try await store.libraryVersions(of: item.id, before: .max, limit: 10, bytes: .max).entries
            #expect(versions.map(\.version) == [5, 4, 3] && versions.first?.restoredFrom == 2)
            #expect(try await store.libraryVersion(3, of: item.id)?.body == ["alert": 3])
            #expect(try await store.libraryVersion(2, of: item.id) == nil, "older ones are forgotten")
            let forgotten = self.change(.restore(version: 2), "t", app: app, kind: .template)
            #expect(try await store.changeLibrary(forgotten, limits: limits) == .missingVersion)
        }
    }

    @Test(arguments: StoreBackend.available)
    func anAppHasABoundedNumberOfThem(backend: StoreBackend) async throws {
        try await backend.withStore { store, app in
            var limits = LibraryLimits()
            limits.items = 1
            _ = try await store.changeLibrary(self.change(.add, "a", app: app, [:]), limits: limits)
            #expect(try await store.changeLibrary(self.change(.save, "b", app: app, [:]), limits: limits) == .tooMany)
            let template = self.change(.add, "b", app: app, kind: .template, [:])
            guard case .changed = try await store.changeLibrary(template, limits: limits) else {
                Issue.record("kinds are counted apart")
                return
            }
        }
    }

    @Test(arguments: StoreBackend.available)
    func whatAScheduleUsesIsNeitherDeletedNorRenamedNorForgotten(backend: StoreBackend) async throws {
        try await backend.withStore { store, app in
            var limits = LibraryLimits()
            limits.versions = 1
            let item = try await self.item(self.change(.add, "beta", app: app, ["tag": "a"]), in: store)
            let rule = try RecurringSchedule(stored: ["cron": "@daily", "timeZone": "Europe/Berlin"])
            var schedule = ScheduleRecord(
                id: UUID(),
                app: app,
                name: "digest",
                request: Data("{}".utf8),
                rule: rule,
                nextRunAt: nil,
                createdAt: self.now
            )
            schedule.uses = [LibraryUse(item: UUID())]
            #expect(try await store.addSchedule(schedule, limits: ScheduleLimits()) == .missingUse)
            schedule.uses = [LibraryUse(item: item.id), LibraryUse(item: item.id, version: 1)]
            guard case .changed = try await store.addSchedule(schedule, limits: ScheduleLimits()) else {
                Issue.record("not added")
                return
            }
            let name = LibraryItemName.name("beta")
            let inUse = LibraryChangeResult.inUse(schedules: ["digest"])
            #expect(try await store.deleteLibraryItem(name, of: .audience, app: app, expected: nil) == inUse)
            var rename = self.change(.save, "beta", app: app)
            rename.name = "gamma"
            #expect(try await store.changeLibrary(rename, limits: limits) == inUse)
            for tag in ["b", "c"] {
                _ = try await store.changeLibrary(
                    self.change(.save, "beta", app: app, ["tag": .string(tag)]),
                    limits: limits
                )
            }
            let kept = try await store.libraryVersions(of: item.id, before: .max, limit: 10, bytes: .max).entries
            #expect(kept.map(\.version) == [3, 1], "the version that the schedule names stays")
            #expect(try await store.deleteSchedule(schedule.id))
            #expect(try await store.deleteLibraryItem(name, of: .audience, app: app, expected: nil) == .deleted)
        }
    }
}
