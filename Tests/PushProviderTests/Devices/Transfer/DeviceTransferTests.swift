import Foundation
import NIOCore
import ProviderModel
import PushStore
import PushSupport
import PushTesting
import PushTypes
import Synchronization
import Testing

@testable import PushProvider

/// Import and export over a real store.
@Suite struct DeviceTransferTests {
    static func stream(_ text: String, pieces size: Int = 1000) -> AsyncStream<ByteBuffer> {
        let bytes = Array(text.utf8)
        return AsyncStream { continuation in
            for start in stride(from: 0, to: bytes.count, by: size) {
                continuation.yield(ByteBuffer(bytes: bytes[start..<min(start + size, bytes.count)]))
            }
            continuation.finish()
        }
    }

    static func run(
        _ text: String,
        _ format: TransferFormat,
        into store: any ProviderStore,
        app: Int64,
        pieces: Int = 1000
    ) async throws -> ImportReport {
        try await Self.importer(into: store, app: app, format).run(Self.stream(text, pieces: pieces))
    }

    static func importer(into store: any ProviderStore, app: Int64, _ format: TransferFormat) -> DeviceImport {
        let time = ManualTime()
        let registrar = DeviceRegistrar(store: store, direct: DirectDispatch(store: store, time: time))
        return DeviceImport(registrar: registrar, app: app, source: ImportSource(format), time: time)
    }

    static func everything(_ export: DeviceExport) async throws -> String {
        var bytes: [UInt8] = []
        for try await buffer in export { bytes += buffer.readableBytesView }
        return String(decoding: bytes, as: UTF8.self)
    }

    static func withStore(_ body: (any ProviderStore, Int64) async throws -> Void) async throws {
        for backend in StoreBackend.available { try await backend.withStore(body) }
    }

    @Test func linesOfJSONAreRegisteredAndFaultsNamed() async throws {
        try await Self.withStore { store, app in
            let text = """
                {"token":"\(Vectors.tokenA)","user":"alice","tags":["a"]}
                {"token":"xyz"}

                nonsense
                {"token":"\(Vectors.tokenC)","\(Vectors.tokenC)":1}
                {"token":"\(Vectors.tokenA.uppercased())","locale":"de_DE"}
                {"token":"\(Vectors.tokenC)","timeZone":"Mars/Base"}
                """
            let report = try await Self.run(text, .ndjson, into: store, app: app, pieces: 13)
            #expect(report.progress.lines == 6)
            #expect(report.progress.added == 1)
            #expect(report.progress.refreshed == 1)
            #expect(report.progress.refused == 4)
            #expect(report.refusals.map(\.line) == [2, 4, 5, 7])
            #expect(
                report.refusals.map(\.code) == ["invalid_token", "invalid_json", "unknown_field", "invalid_time_zone"]
            )
            let shown = String(decoding: try JSONEncoder().encode(report.refusals), as: UTF8.self)
            #expect(!shown.contains(Vectors.tokenC))
            let device = try #require(try await store.devices(app: app, audience: .everyone, after: 0, limit: 9).first)
            #expect(device.profile.user == "alice")
            #expect(device.profile.locale == "de-DE")
        }
    }

    @Test func columnsAreReadByTheirNamesAndEmptyCellsLeaveValues() async throws {
        try await Self.withStore { store, app in
            let text = """
                user,token,environment,tags,capabilities,attributes.plan,attributes.age,attributes.zip,attributes.vip\r
                alice,\(Vectors.tokenA),development,a|b\\|c,alert|badge,"gold, ""old\""",42,01067,true\r
                ,\(Vectors.tokenA),sandbox,,,,43,,\r
                bob,\(Vectors.tokenC)\r
                """
            let report = try await Self.run(text, .csv, into: store, app: app)
            #expect(report.progress.added == 1)
            #expect(report.progress.refreshed == 1)
            #expect(report.refusals.map(\.code) == ["wrong_columns"])
            #expect(report.refusals.map(\.line) == [4])
            let profile = try #require(try await store.devices(app: app, audience: .everyone, after: 0, limit: 9).first)
                .profile
            #expect(profile.user == "alice")
            #expect(profile.tags == ["a", "b|c"])
            #expect(profile.capabilities == [.alert, .badge])
            #expect(
                profile.attributes == ["plan": "gold, \"old\"", "age": 43, "zip": "01067", "vip": true]
            )
        }
    }

    @Test(arguments: ["\(Vectors.tokenA)\n", "user\nalice\n", "token,token\n", "token,\"x\n"])
    func aHeaderThatMakesNoSenseStopsTheImport(text: String) async throws {
        try await Self.withStore { store, app in
            let stopped = await #expect(throws: ImportInterruption.self) {
                try await Self.run(text, .csv, into: store, app: app)
            }
            let cause = try #require(stopped?.cause as? RequestError)
            #expect(cause.kind == .invalid)
            #expect(!cause.message.contains(Vectors.tokenA))
        }
    }

    @Test(arguments: TransferFormat.allCases)
    func anExportCanBeImportedAgain(format: TransferFormat) async throws {
        try await Self.withStore { store, app in
            for number in 0..<1100 {
                try await store.register(number, app: app, environment: number % 2 == 0 ? .sandbox : .production) {
                    guard number % 100 == 0 else { return }
                    $0.user = .set("Zoë \"Z\", \\ 日本\n\r\n\u{1F600}\u{1}")
                    $0.locale = .set("pt-BR")
                    $0.timeZone = .set("Europe/Berlin")
                    $0.appVersion = .set("2.10.1")
                    $0.installation = "i\(number),"
                    $0.capabilities = [.alert, .newsstand]
                    $0.tags = ["a|b", "c\\", "\\|", " "]
                    $0.attributes = [
                        "text": .set("42"), "number": .set(42), "half": .set(.number(0.5)), "yes": .set(true),
                        // An import sets it with the capability.
                        "newsstand": .set(true),
                        "é\"": .set("\n"),
                    ]
                }
            }
            let text = try await Self.everything(DeviceExport(store: store, app: app, format: format))
            let before = try await store.devices(app: app, audience: .everyone, after: 0, limit: 2000)
            try await Self.withStore { second, app in
                let report = try await Self.run(text, format, into: second, app: app, pieces: 777)
                #expect(report.progress.added == 1100)
                #expect(report.refusals == [])
                let after = try await second.devices(app: app, audience: .everyone, after: 0, limit: 2000)
                #expect(after.map(\.profile) == before.map(\.profile))
                #expect(after.map(\.token) == before.map(\.token))
                #expect(after.map(\.environment) == before.map(\.environment))
            }
        }
    }

    @Test func onlyDevicesOfTheStateAreExported() async throws {
        try await Self.withStore { store, app in
            let dead = try await store.register(1, app: app)
            try await store.register(2, app: app)
            let later = Vectors.issuedAt.advanced(by: .seconds(60))
            try await store.apply(.deactivated(since: later), to: dead, app: app, now: later)
            var counts: [Int] = []
            for state in [ExportedDevices.active, .inactive, .all] {
                let export = DeviceExport(store: store, app: app, format: .ndjson, state: state)
                counts.append(try await Self.everything(export).split(separator: "\n").count)
            }
            #expect(counts == [1, 1, 2])
        }
    }

    @Test func progressIsReportedAndErrorsAreBounded() async throws {
        try await Self.withStore { store, app in
            let good = (0..<2500).map { #"{"token":"\#(DeviceToken.numbered($0).hex)"}"# }
            let text = (good + [String](repeating: "{", count: 1500)).joined(separator: "\n")
            let told = Mutex<[Int]>([])
            let report = try await Self.importer(into: store, app: app, .ndjson)
                .run(Self.stream(text, pieces: 100_000)) { progress in
                    told.withLock { $0.append(progress.added) }
                }
            #expect(told.withLock { $0 } == [1000, 2000, 2500, 2500])
            #expect(report.progress.refused == 1500)
            #expect(report.refusals.count == 1000)
            let again = try await Self.run(text, .ndjson, into: store, app: app)
            #expect(again.progress.added == 0)
            #expect(again.progress.refreshed == 2500)
        }
    }

    @Test func aFailingSourceReportsItsProgress() async throws {
        struct Lost: Error {}
        try await Self.withStore { store, app in
            let lines = (0..<1200).map { #"{"token":"\#(DeviceToken.numbered($0).hex)"}"# + "\n" }
            let bytes = AsyncThrowingStream<ByteBuffer, any Error> { continuation in
                continuation.yield(ByteBuffer(string: lines.joined()))
                continuation.finish(throwing: Lost())
            }
            let stopped = await #expect(throws: ImportInterruption.self) {
                try await Self.importer(into: store, app: app, .ndjson).run(bytes)
            }
            #expect(stopped?.cause is Lost)
            #expect(stopped?.progress.lines == 1200)
            #expect(stopped?.progress.registered == 1000)
            #expect(stopped?.description.contains("after 1200 lines: 1000 devices are registered") == true)
        }
    }
}
