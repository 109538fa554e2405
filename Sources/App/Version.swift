/// The version of this program, for `humon --version`. Change it in the commit that makes a release.
enum Version {
    static let current = "1.0.0"
}
