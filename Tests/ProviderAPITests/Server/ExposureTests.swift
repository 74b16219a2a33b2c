import Foundation
import PushTesting
import Testing

@testable import ProviderAPI

/// The warning about files that other users of the machine can read.
@Suite struct ExposureTests {
    @Test func filesThatOthersCanReadAreNamed() async throws {
        try await withTemporaryDirectory { directory in
            let (configuration, log) = (ProviderConfiguration(dataDirectory: directory), RecordedLog())
            for path in [configuration.masterKeyPath, configuration.databasePath] {
                try Data("x".utf8).write(to: URL(filePath: path))
                try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: path)
            }
            configuration.warnOfExposure(logger: log.logger)
            #expect(log.lines.isEmpty)
            let key = configuration.masterKeyPath
            try FileManager.default.setAttributes([.posixPermissions: 0o640], ofItemAtPath: key)
            configuration.warnOfExposure(logger: log.logger)
            let remedy = "file=\(key) mode=0640 remedy=chmod 600 \(key)"
            #expect(log.lines == ["master key is open to other users of this machine \(remedy)"])
        }
    }
}
