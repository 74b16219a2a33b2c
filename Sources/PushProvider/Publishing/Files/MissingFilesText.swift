package import PushStore

/// The files that issues use and whose content the provider does not have, in words.
package enum MissingFilesText {
    /// The maximum number of files that are named.
    private static let maximumNamed = 5

    /// The remedy.
    package static let remedy = """
        Restore the folder of files from its backup, or upload the files again: martlet issue upload …
        """

    /// Returns the number of files with the names of the first ones.
    package static func text(_ missing: [UsedFile], in folder: FileFolder) -> String {
        let named = missing.prefix(Self.maximumNamed).map { "\($0.file.name) (\($0.file.hash.hex.prefix(8))…)" }
        let more = missing.count > Self.maximumNamed ? ", …" : ""
        let files = missing.count == 1 ? "1 file that an issue uses is" : "\(missing.count) files that issues use are"
        return "\(files) missing in \(folder.path): \(named.joined(separator: ", "))\(more)"
    }
}
