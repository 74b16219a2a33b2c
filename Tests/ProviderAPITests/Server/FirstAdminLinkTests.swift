import Foundation
import ProviderModel
import PushProvider
import PushSupport
import PushTesting
import Synchronization
import Testing

@testable import ProviderAPI

/// The link with which the first person is made.
@Suite(.timeLimit(.patience)) struct FirstAdminLinkTests {
    private final class Shown: Sendable {
        private let state = Mutex<[String]>([])
        var links: [String] { self.state.withLock { $0 } }
        func add(_ link: String) { self.state.withLock { $0.append(link) } }
    }

    /// Starts a provider in a folder, and returns the links that it shows.
    private func start(
        _ directory: String,
        _ body: @escaping @Sendable (PeopleServer, String?) async throws -> Void = { _, _ in }
    ) async throws -> [String] {
        let shown = Shown()
        try await withPeople(
            configure: {
                $0.dataDirectory = "\(directory)/data"
                $0.masterKeyPath = "\(directory)/data/master.key"
                $0.adminKeyFile = "\(directory)/first-admin.key"
            },
            showAdminLink: shown.add
        ) { server in try await body(server, shown.links.last?.split(separator: "/").last.map(String.init)) }
        return shown.links
    }

    @Test func everyStartMakesAnotherLinkWhileThereIsNoPerson() async throws {
        try await withTemporaryDirectory { directory in
            let file = "\(directory)/first-admin.link"
            let first = try await self.start(directory)
            #expect(first.count == 1)
            #expect(first.first?.hasPrefix("http://127.0.0.1:") == true)
            #expect(first.first?.contains("/dashboard/link/") == true)
            #expect(try String(contentsOfFile: file, encoding: .utf8) == "\(first.first ?? "")\n")
            let mode = try FileManager.default.attributesOfItem(atPath: file)[.posixPermissions] as? Int
            #expect(mode == 0o600)
            let old = first.first?.split(separator: "/").last.map(String.init) ?? ""
            let second = try await self.start(directory) { server, link in
                let new = try #require(link)
                await #expect(throws: (any Error).self) { try await server.redeem(old, name: "eve") }
                let grant = try await server.redeem(new, name: "anna")
                #expect(grant.session.role == .admin && grant.session.caller.apps == nil)
                await #expect(throws: (any Error).self) { try await server.redeem(new, name: "eve") }
            }
            #expect(second.count == 1)
            #expect(try await self.start(directory).isEmpty, "there is a person")
            #expect(!FileManager.default.fileExists(atPath: file))
        }
    }

    /// The folder of the key may not be writable any more after the first start.
    @Test func aLinkThatCannotBeWrittenEndsNoStart() async throws {
        try await withTemporaryDirectory { directory in
            try FileManager.default.createDirectory(
                atPath: "\(directory)/first-admin.link/in the way",
                withIntermediateDirectories: true
            )
            let shown = try await self.start(directory) { server, _ in
                let status = try await server.api.get("/v1/me").status
                #expect(status == 200)
            }
            #expect(shown.isEmpty)
        }
    }
}
