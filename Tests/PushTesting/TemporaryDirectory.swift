import Foundation

/// Runs `body` with the path of a new folder, which is removed afterwards.
@discardableResult
package func withTemporaryDirectory<Value>(
    isolation: isolated (any Actor)? = #isolation,
    _ body: (String) async throws -> Value
) async throws -> Value {
    let url = FileManager.default.temporaryDirectory.appending(path: "martlet-test-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: url) }
    return try await body(url.path)
}
