import PushSupport

/// The version of the program.
enum Version {
    /// The version, and the commit if the build knew it, such as `0.2.0 (1a2b3c4d5)`.
    static let text: String = {
        let (number, commit) = (MartletVersion.number, MartletVersion.commit)
        return commit.isEmpty ? number : "\(number) (\(commit))"
    }()
}
