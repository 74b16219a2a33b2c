import Foundation
import PushProvider
import PushTesting
import Synchronization
import Testing

@testable import ProviderAPI
@testable import PushStore

/// The first admin key and the master key, with interrupted starts.
@Suite(.timeLimit(.patience)) struct FirstAdminKeyTests {
    @Test func onlyTheFirstStartMakesAnAdminKey() async throws {
        try await self.withFolder { configuration, _ in
            let shown = try await self.start(configuration)
            #expect(shown.count == 1)
            #expect(shown.first?.hasPrefix("mk_") == true)
            #expect(try await self.start(configuration).isEmpty)
        }
    }

    @Test func anEndedProviderHoldsItsDirectoryNoMore() async throws {
        try await self.withFolder { configuration, _ in
            let sender = ScriptedSender()
            let ended = try await ProviderServer(configuration: configuration, senders: sender, logger: silentLogger)
            try await withServices([ended]) { _ = try await ended.port() }
            try await self.start(configuration)
            withExtendedLifetime(ended) {}
        }
    }

    @Test func theKeyIsInItsFileForTheOwnerOnly() async throws {
        try await self.withFolder { configuration, file in
            var configuration = configuration
            configuration.adminKeyFile = file
            let key = try #require(try await self.start(configuration).first)
            #expect(try String(contentsOfFile: file, encoding: .utf8) == "\(key)\n")
            let mode = try FileManager.default.attributesOfItem(atPath: file)[.posixPermissions] as? Int
            #expect(mode == 0o600)
            #expect(!FileManager.default.fileExists(atPath: "\(file).new"))
            #expect(try await self.start(configuration).isEmpty)
        }
    }

    @Test func whatIsNoKeyIsNeverOverwritten() async throws {
        try await self.withFolder { configuration, file in
            var configuration = configuration
            configuration.adminKeyFile = file
            try Data("somebody's".utf8).write(to: URL(filePath: file))
            await #expect(throws: ProviderError.cannotWriteAdminKey(path: file, why: "File exists")) {
                try await self.start(configuration)
            }
            #expect(try String(contentsOfFile: file, encoding: .utf8) == "somebody's")
            try FileManager.default.removeItem(atPath: file)
            #expect(try await self.start(configuration).count == 1, "the refused start has made none")
        }
    }

    @Test func aFolderThatDoesNotExistIsAnError() async throws {
        try await self.withFolder { configuration, file in
            var configuration = configuration
            let missing = "\(file).folder/admin.key"
            configuration.adminKeyFile = missing
            await #expect(throws: ProviderError.cannotWriteAdminKey(path: missing, why: "No such file or directory")) {
                try await self.start(configuration)
            }
            configuration.adminKeyFile = file
            let shown = try await self.start(configuration)
            #expect(shown.count == 1, "the refused start has made none")
        }
    }

    /// Of a start that was cut off, or of keys that were removed.
    @Test func aStaleKeyFileStopsNoStart() async throws {
        try await self.withFolder { configuration, file in
            var configuration = configuration
            configuration.adminKeyFile = file
            let stale = APIKeys.newText()
            try Data("\(stale)\n".utf8).write(to: URL(filePath: file))
            let key = try #require(try await self.start(configuration).first)
            #expect(key != stale)
            #expect(try String(contentsOfFile: file, encoding: .utf8) == "\(key)\n")
            try await self.expect(key, opens: true, configuration)
            // An old key that was removed on purpose does not come back.
            try await self.expect(stale, opens: false, configuration)
        }
    }

    /// The file was written, and the key not stored.
    @Test func aCrashBeforeTheKeyIsStoredLeavesNothingInTheWay() async throws {
        try await self.withFolder { configuration, file in
            var configuration = configuration
            configuration.adminKeyFile = file
            try Data("\(APIKeys.newText())\n".utf8).write(to: URL(filePath: "\(file).new"))
            let key = try #require(try await self.start(configuration).first)
            #expect(try String(contentsOfFile: file, encoding: .utf8) == "\(key)\n")
            #expect(!FileManager.default.fileExists(atPath: "\(file).new"))
            try await self.expect(key, opens: true, configuration)
        }
    }

    /// The key was stored, and its file has not got its name.
    @Test func aCrashAfterThatGivesTheFileItsName() async throws {
        try await self.withFolder { configuration, file in
            var configuration = configuration
            configuration.adminKeyFile = file
            let key = try #require(try await self.start(configuration).first)
            try FileManager.default.moveItem(atPath: file, toPath: "\(file).new")
            #expect(try await self.start(configuration).isEmpty)
            #expect(try String(contentsOfFile: file, encoding: .utf8) == "\(key)\n")
            try await self.expect(key, opens: true, configuration)
        }
    }

    @Test func withThePortTakenNoKeyIsMade() async throws {
        try await self.withFolder { configuration, file in
            try await withProvider(senders: ScriptedSender()) { other in
                var taken = configuration
                taken.adminKeyFile = file
                taken.port = try #require(Int(other.api.baseURL.split(separator: ":").last ?? ""))
                await #expect(throws: ProviderError.self) { try await self.start(taken) }
                #expect(!FileManager.default.fileExists(atPath: file))
            }
            #expect(try await self.start(configuration).count == 1)
        }
    }

    @Test func aMissingMasterKeyStopsTheStart() async throws {
        try await self.withFolder { configuration, _ in
            let key = try #require(try await self.start(configuration).first)
            try await self.run(configuration) { api in
                var api = api
                api.apiKey = key
                let provider = RunningProvider(api: api)
                try await provider.addVectorsApp()
            }
            let path = configuration.masterKeyPath
            try FileManager.default.moveItem(atPath: path, toPath: "\(path).saved")
            await #expect(throws: StoreError.missingMasterKey(path: path, database: configuration.databasePath)) {
                try await self.start(configuration)
            }
            #expect(!FileManager.default.fileExists(atPath: path))
            try FileManager.default.moveItem(atPath: "\(path).saved", toPath: path)
            #expect(try await self.start(configuration).isEmpty)
        }
    }

    private func withFolder(_ body: @escaping @Sendable (ProviderConfiguration, String) async throws -> Void)
        async throws
    {
        try await withTemporaryDirectory { directory in
            var configuration = ProviderConfiguration(dataDirectory: "\(directory)/data")
            configuration.port = 0
            configuration.bePatient()
            try await body(configuration, "\(directory)/first-admin.key")
        }
    }

    /// Starts and ends a provider.
    /// - Returns: the keys that it showed.
    @discardableResult
    private func start(_ configuration: ProviderConfiguration) async throws -> [String] {
        try await self.run(configuration) { _ in }
    }

    private func expect(_ key: String, opens: Bool, _ configuration: ProviderConfiguration) async throws {
        try await self.run(configuration) { api in
            var api = api
            api.apiKey = key
            let status = try await api.get("/v1/keys").status
            #expect(status == (opens ? 200 : 401))
        }
    }

    @discardableResult
    private func run(
        _ configuration: ProviderConfiguration,
        _ body: @escaping @Sendable (JSONClient) async throws -> Void
    ) async throws -> [String] {
        let shown = ShownKeys()
        let server = try await ProviderServer(
            configuration: configuration,
            senders: ScriptedSender(),
            showAdminKey: shown.add,
            logger: silentLogger
        )
        try await withServices([server]) {
            try await body(JSONClient(baseURL: "http://127.0.0.1:\(try await server.port())"))
        }
        return shown.keys
    }
}

private final class ShownKeys: Sendable {
    private let state = Mutex<[String]>([])

    var keys: [String] { self.state.withLock { $0 } }

    func add(_ key: String) { self.state.withLock { $0.append(key) } }
}
