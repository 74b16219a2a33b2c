import Foundation

/// Results, for people and programs; written at once, also into a pipe.
enum StandardOutput {
    static func line(_ text: String) {
        FileHandle.standardOutput.write(Data("\(text)\n".utf8))
    }
}

/// Everything that is no result.
enum StandardError {
    static func line(_ text: String) {
        FileHandle.standardError.write(Data("\(text)\n".utf8))
    }
}
