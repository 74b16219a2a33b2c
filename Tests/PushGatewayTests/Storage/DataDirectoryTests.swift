import Foundation
import PushSupport
import PushTesting
import Testing

@testable import PushGateway

/// The files of a gateway: complete, private from the start, and PEM that can be concatenated.
@Suite struct DataDirectoryTests {
    @Test func aFolderThatOthersCouldEnterIsClosed() async throws {
        try await withTemporaryDirectory { directory in
            let folder = "\(directory)/gateway"
            try FileManager.default.createDirectory(
                atPath: folder,
                withIntermediateDirectories: true,
                attributes: [.posixPermissions: 0o755]
            )
            let data = try DataDirectory(folder)
            try data.save("secret", Data([1]))
            try data.save("secret", Data([2]))
            #expect(try Self.mode(folder) == 0o700)
            #expect(try Self.mode("\(folder)/secret") == 0o600)
            #expect(try Data(contentsOf: URL(filePath: "\(folder)/secret")) == Data([2]))
            #expect(try FileManager.default.contentsOfDirectory(atPath: folder).sorted() == ["lock", "secret"])
        }
    }

    /// A file has its name only when it is complete, and never another mode.
    @Test func aFileIsNeverReadableByOthersNorHalfThere() async throws {
        try await withTemporaryDirectory { directory in
            let path = "\(directory)/key"
            #expect(DurableFile.replace(path, [1, 2, 3]))
            let mode = try Self.mode(path)
            #expect(mode == 0o600)
            #expect(!DurableFile.create(path, [4]), "it is there already")
            let content = try Data(contentsOf: URL(filePath: path))
            #expect(content == Data([1, 2, 3]))
            #expect(!DurableFile.replace("\(directory)/none/key", [1]))
        }
    }

    @Test func allPEMFilesEndWithALineBreakAlsoThoseOfEarlierVersions() async throws {
        try await withTemporaryDirectory { directory in
            try await withGateway(in: directory) { _ in }
            let files = try FileManager.default.contentsOfDirectory(atPath: directory).filter { file in
                file.hasSuffix(".pem") || (file.hasSuffix(".key") && file != "token.key")
            }
            #expect(files.count >= 6)
            for file in files {
                let url = URL(filePath: "\(directory)/\(file)")
                let text = try String(contentsOf: url, encoding: .utf8)
                #expect(text.hasSuffix("-----\n"), "\(file)")
                try Data(text.dropLast().utf8).write(to: url)
            }
            try await withGateway(in: directory) { _ in }
            for file in files {
                let text = try String(contentsOf: URL(filePath: "\(directory)/\(file)"), encoding: .utf8)
                #expect(text.hasSuffix("-----\n"), "\(file)")
            }
        }
    }

    private static func mode(_ path: String) throws -> Int {
        let attributes = try FileManager.default.attributesOfItem(atPath: path)
        return try #require(attributes[.posixPermissions] as? Int)
    }
}
