import BuildInformation
import PushSupport

/// The version of the program.
enum Version {
    /// The version, and the commit if the build knew it, such as `0.1.0 (1a2b3c4d5)`.
    static let text: String = {
        let commit = String(cString: martlet_build_commit())
        return commit.isEmpty ? MartletVersion.number : "\(MartletVersion.number) (\(commit))"
    }()
}
