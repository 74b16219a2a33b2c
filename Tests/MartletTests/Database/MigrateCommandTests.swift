import Foundation
import PushStore
import PushTesting
import Testing

@testable import martlet

/// The errors of `martlet migrate` before anything is copied.
@Suite(.timeLimit(.patience)) struct MigrateCommandTests {
    @Test func theAddressComesFromTheEnvironmentOrAFile() async throws {
        try await withTemporaryDirectory { directory in
            let file = "\(directory)/database"
            try "postgres://martlet@db/martlet\n".write(toFile: file, atomically: true, encoding: .utf8)
            for address in ["postgres://martlet@db/martlet", "@\(file)"] {
                let settings = try await SettingsReader(environment: ["MARTLET_SERVE_DATABASE": address])
                #expect(try DatabaseSettings.address(settings) == "postgres://martlet@db/martlet")
            }
            let missing = try await SettingsReader(environment: ["MARTLET_SERVE_DATABASE": "@\(directory)/none"])
            #expect(throws: SettingsError.self) { try DatabaseSettings.address(missing) }
            let none = try await SettingsReader(environment: [:])
            let error = #expect(throws: SettingsError.self) { try DatabaseSettings.address(none) }
            #expect(
                error?.description.contains("--database or MARTLET_SERVE_DATABASE") == true && error?.status == .usage
            )
        }
    }

    #if PostgreSQL
    private static let directions = ["sqlite-to-postgres", "postgres-to-sqlite"]

    private func migrate(_ direction: String, _ directory: String, _ address: String) async -> String? {
        await failure {
            try await martlet(["migrate", direction, "--data-directory", directory, "--database", address, "--dry-run"])
        }
    }

    @Test(arguments: Self.directions) func whatIsMissingOrLeftOverIsNamed(direction: String) async throws {
        try await withTemporaryDirectory { directory in
            let (address, path) = ("host=/nowhere dbname=martlet", "\(directory)/provider.sqlite")
            #expect(await self.migrate(direction, directory, address)?.contains("there is no master key") == true)
            _ = try MasterKey.load(orCreateAt: "\(directory)/master.key")
            try Data().write(to: URL(filePath: "\(path)-wal"))
            let expected = direction == Self.directions[0] ? "there is no database" : "the log of another database"
            #expect(await self.migrate(direction, directory, address)?.contains(expected) == true)
            try Data().write(to: URL(filePath: "\(path).replacing"))
            #expect(await self.migrate(direction, directory, address)?.contains("was interrupted") == true)
        }
    }

    @Test(arguments: Self.directions) func anAddressThatCannotBeUsedIsNamed(direction: String) async throws {
        try await withTemporaryDirectory { directory in
            let (path, key) = ("\(directory)/provider.sqlite", "\(directory)/master.key")
            let store = try SQLStore(path: path, masterKey: MasterKey.load(orCreateAt: key))
            try await store.close()
            let secret = await self.migrate(direction, directory, "postgres://martlet:whisper@localhost/martlet")
            #expect(secret?.contains("passfile=FILE") == true && secret?.contains("whisper") == false)
            #expect(await self.migrate(direction, directory, "mysql://db/martlet")?.contains("neither a URL") == true)
            let away = await self.migrate(direction, directory, "host=\(directory) dbname=martlet")
            #expect(away?.contains("cannot be reached") == true)
        }
    }
    #else
    @Test func aProgramWithoutPostgreSQLSaysHowItIsBuiltWithIt() async throws {
        try await withTemporaryDirectory { directory in
            let words = ["migrate", "sqlite-to-postgres", "--data-directory", directory]
            let error = await failure { try await martlet(words) }
            #expect(error?.contains("--traits Server,PostgreSQL") == true)
        }
    }
    #endif
}
