import Foundation

/// Results, for people and programs; written at once, also into a pipe.
enum StandardOutput {
    /// Where everything goes; `false` when nobody reads any more.
    @TaskLocal static var write: @Sendable (Data) -> Bool = { data in
        (try? FileHandle.standardOutput.write(contentsOf: data)) != nil
    }

    /// `false` when nobody reads any more, as after `| head`.
    @discardableResult
    static func line(_ text: String) -> Bool {
        self.write(Data("\(text)\n".utf8))
    }
}

/// Everything that is no result.
enum StandardError {
    static func line(_ text: String) {
        self.write("\(text)\n")
    }

    static func write(_ text: String) {
        try? FileHandle.standardError.write(contentsOf: Data(text.utf8))
    }
}
