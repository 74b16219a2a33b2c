import Foundation
import PushProtocol
import PushProvider
import PushStore
import PushTesting
import Testing

/// Devices from a file into the store and back.
@Suite(.timeLimit(.minutes(1))) struct DeviceTransferTests {
    let now = Vectors.issuedAt

    @Test(arguments: TransferFormat.allCases) func whatIsExportedIsImportedTheSame(format: TransferFormat) async throws
    {
        try await self.withStore { store, app in
            var generator = AudienceGenerator(seed: 21)
            var registrations = (0..<2300).map { generator.registration($0) }
            registrations[0].user = .set("a \"quoted\", name\r\nof two lines")
            registrations[0].tags = ["x;y", "[z", "ä\u{1F426}"]
            registrations[0].capabilities = [.alert, .newsstand]
            registrations[0].installation = "phone"
            registrations[0].attributes = ["": .clear, "text": .set(.string("12")), "yes": .set(.bool(true))]
            _ = try await store.register(registrations, app: app, now: self.now)
            let bytes = try await Self.export(format, store, app)
            let other = try await store.addApp(bundleID: try #require(Topic("b")), name: nil, now: self.now).app.id
            let report = try await self.importing(format, bytes, store, other)
            #expect(report.added == 2300)
            #expect(report.refused == 0, "\(report.refusals)")
            let (before, after) = (try await Self.profiles(store, app), try await Self.profiles(store, other))
            #expect(before == after)

            let again = try await self.importing(format, bytes, store, other)
            #expect(again.refreshed == 2300)
            #expect(again.added == 0)
            #expect(try await Self.profiles(store, other) == before)
        }
    }

    @Test func onlyTheDevicesThatAreAskedForAreExported() async throws {
        try await self.withStore { store, app in
            for number in 1...4 { try await store.register(number, app: app) { $0.tags = number < 3 ? ["a"] : [] } }
            let id = try #require(try await store.devices(app: app, token: .numbered(1)).first?.id)
            try await store.apply(.dead(since: self.now.advanced(by: .seconds(1))), to: id, app: app)
            func tokens(_ audience: AudienceExpression, _ isActive: Bool?) async throws -> Int {
                var export = DeviceExport(.ndjson, from: store, app: app, audience: audience, isActive: isActive)
                var lines = 0
                while let bytes = try await export.next() { lines += bytes.count { $0 == UInt8(ascii: "\n") } }
                return lines
            }
            #expect(try await tokens(.everyone, true) == 3)
            #expect(try await tokens(.everyone, false) == 1)
            #expect(try await tokens(.everyone, nil) == 4)
            #expect(try await tokens(.tag("a"), true) == 1)
        }
    }

    @Test func refusedLinesAreCountedAndTheFirstOfThemTold() async throws {
        try await self.withStore { store, app in
            let lines = (0..<5000).map { number in
                number.isMultiple(of: 2)
                    ? "{\"token\":\"\(DeviceToken.numbered(number / 2).hex)\"}" : "{\"token\":\"?\"}"
            }
            let report = try await self.importing(.ndjson, Array(lines.joined(separator: "\n").utf8), store, app)
            #expect(report.added == 2500)
            #expect(report.refused == 2500)
            #expect(report.refusals.count == ImportReport.maximumRefusals)
            #expect(report.refusals.map(\.line) == (1...ImportReport.maximumRefusals).map { $0 * 2 })
            #expect(try await store.count(app: app, audience: .everyone, environment: nil) == 2500)
            #expect(report.json["refused"] == .integer(2500))
            #expect(report.json["refusals"].elements.first?["code"] == .string("invalid_token"))
        }
    }

    @Test func anImportMergesAndNeverDoubles() async throws {
        try await self.withStore { store, app in
            let first = "token,user,tags\n0102,alice,a;b\n0102,,\n0103,bob,\n"
            let report = try await self.importing(.csv, Array(first.utf8), store, app)
            #expect(report.added == 2)
            #expect(report.refreshed == 1)
            let second = try await self.importing(.csv, Array("token,locale\n0102,de\n".utf8), store, app)
            #expect(second.refreshed == 1)
            let token = try #require(DeviceToken(bytes: [1, 2]))
            let profile = try #require(try await store.devices(app: app, token: token).first?.profile)
            #expect(profile.user == "alice")
            #expect(profile.tags == ["a", "b"])
            #expect(profile.locale == "de")
        }
    }

    private func importing(
        _ format: TransferFormat,
        _ bytes: [UInt8],
        _ store: any PushStore,
        _ app: Int64
    ) async throws -> ImportReport {
        var transfer = DeviceImport(format, into: store, app: app)
        for start in stride(from: 0, to: bytes.count, by: 10_007) {
            try await transfer.take(Array(bytes[start..<min(start + 10_007, bytes.count)]), now: self.now)
        }
        try await transfer.end(now: self.now)
        return transfer.report
    }

    private static func export(_ format: TransferFormat, _ store: any PushStore, _ app: Int64) async throws -> [UInt8] {
        var export = DeviceExport(format, from: store, app: app)
        var all: [UInt8] = []
        while let bytes = try await export.next() { all += bytes }
        return all
    }

    private static func profiles(_ store: any PushStore, _ app: Int64) async throws -> [DeviceToken: DeviceProfile] {
        let devices = try await store.devices(app: app, audience: .everyone, after: 0, limit: 10_000)
        return Dictionary(devices.map { ($0.token, $0.profile) }) { $1 }
    }

    private func withStore(_ body: (any PushStore, Int64) async throws -> Void) async throws {
        for backend in StoreBackend.available { try await backend.withStore(body) }
    }
}
